#!/usr/bin/env python3
"""Many partitions: the same rows into 1, 48, 1,000, 10,000 and 70,000 partitions, rows going round all of them, the worst order there is.

  bench/partitions.py                                all counts, Parquet, beside DuckDB
  bench/partitions.py --counts 48,10000 --repeats 3  alternating runs, medians
  bench/partitions.py --format csv --mode streaming  csv files with checkpoints

Prints one JSON line a measurement: wall seconds, peak resident MiB, files, the most files of one partition. The result is checked (rows and a
sum that does not depend on their order) before a time counts. Sluice runs with 1,024 descriptors and --memory (512 MiB), whole process timed;
DuckDB's time is that of its process too.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
COLUMNS = "order_id BIGINT, user_id INT, amount DOUBLE, note STRING"


def run_measured(command):
    """Wall seconds, peak resident MiB and the output of a command that may open 1,024 files."""
    limited = ["bash", "-c", 'ulimit -Sn 1024; exec /usr/bin/time -f "peak_kib=%M cpu=%U+%S" "$@"', "run", *command]
    start = time.monotonic()
    done = subprocess.run(limited, capture_output=True, text=True)
    seconds = time.monotonic() - start
    text = done.stdout + done.stderr
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {' '.join(command)[:200]}\n{text[-3000:]}")
    peak, user, system = re.search(r"peak_kib=(\d+) cpu=([\d.]+)\+([\d.]+)", text).groups()
    return {"seconds": seconds, "peak_mib": int(peak) / 1024, "cpu_seconds": float(user) + float(system)}


def new_target(work, name):
    """A directory that no run had. Nothing is removed between runs: ext4 looks past freed inodes, one by one, for seconds."""
    for number in range(1_000):
        if not (work / f"{name}-{number}").exists():
            return work / f"{name}-{number}"
    raise RuntimeError(f"too many {name} in {work}")


def sluice_job(options, work, rows, count, target):
    """Reads the CSV file and deals its rows out to `count` partitions."""
    key = f"CAST(MOD(order_id, {count}) AS STRING)"
    return (f"SET 'execution.runtime-mode' = '{options.mode}';\nSET 'sluice.memory.limit' = '{options.memory}';\n"
            f"SET 'execution.checkpointing.interval' = '{options.interval}';\n"
            f"CREATE TABLE source ({COLUMNS}) WITH ('connector'='filesystem', 'path'='{work}/csv', 'format'='csv');\n"
            f"CREATE TABLE lake ({COLUMNS}, p STRING) PARTITIONED BY (p) WITH ('connector'='filesystem', 'path'='{target}', "
            f"'format'='{options.format}'{options.options});\n"
            f"INSERT INTO lake SELECT order_id, user_id, amount, note, {key} FROM source;\n")


def run_sluice(options, work, rows, count):
    target = new_target(work, f"sluice-{count}")
    script = work / "job.sql"
    script.write_text(sluice_job(options, work, rows, count, target))
    return run_measured([SLUICE, "run", "--fresh", str(script)]), target




def run_duckdb(options, work, rows, count):
    target = new_target(work, f"duckdb-{count}")
    columns = "{'order_id':'BIGINT','user_id':'INTEGER','amount':'DOUBLE','note':'VARCHAR'}"
    statement = (f"COPY (SELECT *, CAST(order_id % {count} AS VARCHAR) p FROM read_csv('{work}/csv/*', header=false, columns={columns})) "
                 f"TO '{target}' (FORMAT {options.format}, PARTITION_BY (p))")
    code = ("import duckdb\nc = duckdb.connect()\n"
            f"c.execute(\"SET threads = {os.cpu_count()}\")\n"
            f"c.execute(\"SET temp_directory = '{work}/duckdb-spill'\")\n"
            + (f"c.execute(\"SET memory_limit = '{options.duckdb_memory}'\")\n" if options.duckdb_memory else "")
            + f"c.execute({statement!r})\n")
    return run_measured([sys.executable, "-c", code]), target


def count_files(target):
    """All files, and the most in one partition; hidden ones must not be left."""
    per_partition = collections.Counter()
    for directory, _, names in os.walk(target):
        for name in names:
            if name.startswith("."):
                raise RuntimeError(f"hidden file left: {directory}/{name}")
            if not name.startswith("_"):
                per_partition[directory] += 1
    return per_partition


def check_rows(options, target, rows):
    import duckdb
    reader = (f"read_parquet('{target}/*/*', hive_partitioning=true)" if options.format == "parquet" else
              f"read_csv('{target}/*/*', header=false, columns={{'order_id':'BIGINT','user_id':'INTEGER','amount':'DOUBLE','note':'VARCHAR'}})")
    got = duckdb.sql(f"SELECT COUNT(*), SUM(order_id), COUNT(DISTINCT order_id) FROM {reader}").fetchall()[0]
    if got != (rows, rows * (rows + 1) // 2, rows):
        raise RuntimeError(f"{target} holds {got}")


def generate(work, rows):
    script = work / "generate.sql"
    script.write_text(
        f"CREATE TABLE gen (order_id BIGINT, user_id INT, cents INT, note STRING) WITH ('connector'='datagen', 'number-of-rows'='{rows}', "
        f"'rows-per-second'='1000000000', 'fields.order_id.kind'='sequence', 'fields.order_id.start'='1', 'fields.order_id.end'='{rows}', "
        "'fields.user_id.min'='1', 'fields.user_id.max'='100000', 'fields.cents.min'='1', 'fields.cents.max'='100000', 'fields.note.length'='20');\n"
        f"CREATE TABLE out ({COLUMNS}) WITH ('connector'='filesystem', 'path'='{work}/csv', 'format'='csv');\n"
        "INSERT INTO out SELECT order_id, user_id, CAST(cents AS DOUBLE) / 100, note FROM gen;\n")
    subprocess.run([SLUICE, "run", "--fresh", str(script)], check=True, capture_output=True)


def measure(options, work, engine, count, check):
    run = {"sluice": run_sluice, "duckdb": run_duckdb}[engine]
    result = {"workload": "W6", "engine": engine, "format": options.format, "mode": options.mode if engine == "sluice" else "batch",
              "rows": options.rows, "partitions": count}
    try:
        figures, target = run(options, work, options.rows, count)
    except RuntimeError as error:
        return {**result, "failed": str(error)[-400:]}
    per_partition = count_files(target)
    if check:
        check_rows(options, target, options.rows)
    os.sync()  # What the next run finds of this one must not cost it time.
    return {**result, **{name: round(value, 3) for name, value in figures.items()}, "files": sum(per_partition.values()),
            "most_files": max(per_partition.values()), "rows_per_second": round(options.rows / figures["seconds"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--counts", default="1,48,1000,10000,70000")
    parser.add_argument("--engines", default="sluice,duckdb")
    parser.add_argument("--format", default="parquet")
    parser.add_argument("--mode", default="batch", choices=("batch", "streaming"))
    parser.add_argument("--interval", default="10 s")
    parser.add_argument("--memory", default="512 mb")
    parser.add_argument("--duckdb-memory", default="")
    parser.add_argument("--options", default="", help="more table options: , 'key'='value'")
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--work", default="")
    options = parser.parse_args()
    work = pathlib.Path(options.work or tempfile.mkdtemp(prefix="sluice-partitions-"))
    work.mkdir(exist_ok=True)
    try:
        if not (work / "csv").exists():
            generate(work, options.rows)
        seconds = collections.defaultdict(list)
        for repeat in range(options.repeats):
            for engine in options.engines.split(","):
                for count in map(int, options.counts.split(",")):
                    result = measure(options, work, engine, count, repeat == 0 and not options.no_check)
                    print(json.dumps(result), flush=True)
                    if "seconds" in result:
                        seconds[engine, count].append(result["seconds"])
        for (engine, count), values in seconds.items():
            base = seconds.get((engine, 48))
            line = {"workload": "W6", "engine": engine, "partitions": count, "median_seconds": round(statistics.median(values), 3),
                    "spread": round(max(values) - min(values), 3)}
            if base:
                line["ratio_to_48"] = round(statistics.median(values) / statistics.median(base), 2)
            print(json.dumps(line), flush=True)
    finally:
        if not options.work:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
