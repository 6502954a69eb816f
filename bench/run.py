#!/usr/bin/env python3
"""Measures whole jobs beside Flink 2.3 and DuckDB on the same machine and data, in one run, and writes bench/RESULTS.md.

  ./dev bench                     everything
  ./dev bench --rows 2000000      smaller data
  ./dev bench --only csv,json     some jobs
  ./dev bench --no-flink          without the peer that takes longest

A job's time is wall time: for Sluice the whole process, for DuckDB the statement, for Flink the job's own duration as its REST API gives
it (without the start of the JVMs and of the SQL client, which favours Flink).
"""
import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[1]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
KAFKA = str(ROOT / "tools" / "services" / "kafka.sh")
FLINK = str(ROOT / "tools" / "services" / "flink.sh")
COLUMNS = "order_id BIGINT, user_id INT, amount DOUBLE, note STRING, ts TIMESTAMP(3)"
SELECT = "SELECT order_id, user_id, amount, note, DATE_FORMAT(ts, 'yyyy-MM-dd'), DATE_FORMAT(ts, 'HH')"


def say(text):
    print(text, file=sys.stderr, flush=True)


def run_measured(command):
    """Wall seconds and peak resident MiB of a command."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output, _ = process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)[:200]}\n{output[-3000:]}")
    seconds = time.monotonic() - start
    found = re.search(r"peak_kib=(\d+)", output)
    return seconds, int(found.group(1)) / 1024 if found else 0.0, output


def sluice(sql, work, repeats=1):
    script = work / "job.sql"
    script.write_text(sql)
    best = None
    for _ in range(repeats):
        result = run_measured(["/usr/bin/time", "-f", "peak_kib=%M", SLUICE, "run", "--fresh", str(script)])
        best = min(best, result, key=lambda r: r[0]) if best else result
    return best


class Flink:
    def __init__(self):
        self.address = subprocess.check_output([FLINK, "start"], text=True, stderr=subprocess.DEVNULL).strip().split()[-1]
        if not self.address.startswith("http"):
            self.address = "http://" + self.address

    def jobs(self):
        with urllib.request.urlopen(self.address + "/jobs/overview") as answer:
            return {job["jid"]: job for job in json.load(answer)["jobs"]}

    def run(self, sql, work):
        before = set(self.jobs())
        script = work / "flink.sql"
        script.write_text("SET 'table.dml-sync' = 'true';\nSET 'parallelism.default' = '2';\n" + sql)
        done = subprocess.run([FLINK, "sql", str(script)], capture_output=True, text=True)
        fresh = [job for jid, job in self.jobs().items() if jid not in before]
        if not fresh or any(job["state"] != "FINISHED" for job in fresh):
            raise SystemExit(f"Flink did not finish:\n{done.stdout[-3000:]}{done.stderr[-2000:]}")
        return max(job["duration"] for job in fresh) / 1000

    def stop(self):
        subprocess.run([FLINK, "stop"], capture_output=True)


def duckdb_seconds(statement):
    import duckdb
    connection = duckdb.connect()
    connection.execute(f"SET threads = {os.cpu_count()}")
    start = time.monotonic()
    connection.execute(statement).fetchall()
    return time.monotonic() - start


def file_source(work, form):
    return f"CREATE TABLE source ({COLUMNS}) WITH ('connector'='filesystem', 'path'='{work}/{form}', 'format'='{form}');\n"


def lake(path):
    return (f"CREATE TABLE lake (order_id BIGINT, user_id INT, amount DOUBLE, note STRING, dt STRING, `hour` STRING) PARTITIONED BY (dt, `hour`) "
            f"WITH ('connector'='filesystem', 'path'='{path}', 'format'='parquet', 'sink.partition-commit.policy.kind'='success-file');\n")


def generate(work, rows):
    """The same rows as CSV and JSON files; made by Sluice's own generator."""
    sql = (f"CREATE TABLE gen (order_id BIGINT, user_id INT, cents INT, note STRING, s INT) WITH ('connector'='datagen', "
           f"'number-of-rows'='{rows}', 'rows-per-second'='1000000000', 'fields.order_id.kind'='sequence', 'fields.order_id.start'='1', "
           f"'fields.order_id.end'='{rows}', 'fields.user_id.min'='1', 'fields.user_id.max'='100000', 'fields.cents.min'='1', "
           f"'fields.cents.max'='100000', 'fields.note.length'='20', 'fields.s.min'='0', 'fields.s.max'='172799');\n")
    for form in ("csv", "json"):
        sql += f"CREATE TABLE out_{form} ({COLUMNS}) WITH ('connector'='filesystem', 'path'='{work}/{form}', 'format'='{form}');\n"
    sql += ("EXECUTE STATEMENT SET BEGIN\n" + "".join(
        f"INSERT INTO out_{form} SELECT order_id, user_id, CAST(cents AS DOUBLE) / 100, note, "
        f"TIMESTAMPADD(SECOND, s, TIMESTAMP '2020-05-20 00:00:00') FROM gen;\n" for form in ("csv", "json")) + "END;\n")
    sluice(sql, work)


def bench_start(options, work, flink):
    best = min((run_measured(["/usr/bin/time", "-f", "peak_kib=%M", SLUICE, "run", "-e", "SELECT 1"]) for _ in range(15)), key=lambda r: r[0])
    return {"job": "start-up: SELECT 1", "sluice_s": best[0], "sluice_mib": best[1], "note": "best of 15"}


def bench_datagen(options, work, flink):
    rows = options.rows * 4
    source = (f"CREATE TABLE gen (id BIGINT, a INT, b DOUBLE) WITH ('connector'='datagen', 'number-of-rows'='{rows}', "
              f"'rows-per-second'='1000000000');\nCREATE TABLE sink (id BIGINT, a INT, b DOUBLE) WITH ('connector'='blackhole');\n")
    sql = source + "INSERT INTO sink SELECT id, a, b FROM gen;\n"
    seconds, mib, _ = sluice(sql, work, 3)
    result = {"job": "datagen -> blackhole", "rows": rows, "sluice_s": seconds, "sluice_mib": mib}
    if flink:
        result["flink_s"] = flink.run(sql, work)
    return result


def bench_file(form):
    def bench(options, work, flink):
        def job(target):
            shutil.rmtree(work / target, ignore_errors=True)
            return (file_source(work, form) + lake(work / target) +
                    "SET 'execution.checkpointing.interval' = '5 s';\nINSERT INTO lake " + SELECT + " FROM source;\n")
        seconds, mib, _ = sluice(job("out_sluice"), work)
        result = {"job": f"{form.upper()} -> partitioned Parquet", "rows": options.rows, "sluice_s": seconds, "sluice_mib": mib}
        if flink:
            result["flink_s"] = flink.run(job("out_flink"), work)
        reader = (f"read_csv('{work}/csv/*', header=false, names=['order_id','user_id','amount','note','ts'])" if form == "csv"
                  else f"read_json('{work}/json/*', format='newline_delimited')")
        shutil.rmtree(work / "out_duckdb", ignore_errors=True)
        result["duckdb_s"] = duckdb_seconds(
            f"COPY (SELECT order_id, user_id, amount, note, strftime(CAST(ts AS TIMESTAMP), '%Y-%m-%d') dt, strftime(CAST(ts AS TIMESTAMP), '%H') AS hour FROM {reader}) "
            f"TO '{work}/out_duckdb' (FORMAT parquet, PARTITION_BY (dt, hour))")
        return result
    return bench


def bench_kafka(options, work, flink):
    environment = dict(os.environ, SLUICE_KAFKA_NAME="bench")
    broker = subprocess.check_output([KAFKA, "start"], env=environment, text=True, stderr=subprocess.DEVNULL).strip()
    try:
        subprocess.run([KAFKA, "topic", "orders", "1"], env=environment, check=True, capture_output=True)
        with subprocess.Popen(f"cat {work}/json/part-*", shell=True, stdout=subprocess.PIPE) as rows:
            subprocess.run([KAFKA, "produce", "orders"], env=environment, stdin=rows.stdout, check=True, capture_output=True)

        def job(target):
            shutil.rmtree(work / target, ignore_errors=True)
            return (f"SET 'execution.checkpointing.interval' = '5 s';\nCREATE TABLE source ({COLUMNS}, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH "
                    f"('connector'='kafka', 'topic'='orders', 'properties.bootstrap.servers'='{broker}', 'scan.startup.mode'='earliest-offset', "
                    f"'scan.bounded.mode'='latest-offset', 'format'='json');\n" + lake(work / target) + "INSERT INTO lake " + SELECT + " FROM source;\n")
        seconds, mib, _ = sluice(job("kafka_sluice"), work)
        result = {"job": "Kafka JSON (1 partition) -> partitioned Parquet, exactly once", "rows": options.rows, "sluice_s": seconds, "sluice_mib": mib}
        if flink:
            result["flink_s"] = flink.run(job("kafka_flink"), work)
        return result
    finally:
        subprocess.run([KAFKA, "wipe"], env=environment, capture_output=True)


def bench_read(options, work, flink):
    if not (work / "out_sluice").exists():
        bench_file("csv")(options, work, None)
    where = "dt = '2020-05-20' AND `hour` IN ('08', '09')"
    sql = (lake(work / "out_sluice") +
           f"CREATE TABLE total (n BIGINT, amount DOUBLE) WITH ('connector'='blackhole');\nINSERT INTO total SELECT COUNT(*), SUM(amount) FROM lake WHERE {where};\n")
    # Flink's batch shuffle wants direct memory that a TaskManager of this size lacks after the jobs before: both stream.
    seconds, mib, _ = sluice(sql, work, 3)
    result = {"job": "read back with pruning: 2 of 48 partitions", "sluice_s": seconds, "sluice_mib": mib}
    if flink:
        result["flink_s"] = flink.run(sql, work)
    result["duckdb_s"] = duckdb_seconds(f"SELECT COUNT(*), SUM(amount) FROM read_parquet('{work}/out_sluice/**/part-*', hive_partitioning=true) WHERE "
                                        "dt = '2020-05-20' AND hour IN ('08', '09')")
    return result


JOBS = {"start": bench_start, "datagen": bench_datagen, "csv": bench_file("csv"), "json": bench_file("json"), "kafka": bench_kafka, "read": bench_read}


def table(results, options):
    lines = ["# Whole jobs beside Flink 2.3 and DuckDB", "",
             f"Made by `./dev bench` on {datetime.date.today().isoformat()}: {os.cpu_count()} cores, {platform.machine()}, {options.rows:,} rows of about 75 bytes, "
             "parallelism 2 for all, one run. These machines are shared and noisy: read ratios, not absolutes.",
             "Sluice's time is that of the whole process; Flink's is the job's own duration (no JVM start); DuckDB's is the statement.", "",
             "| job | rows | Sluice s | rows/s | peak MiB | Flink s | Flink / Sluice | DuckDB s | DuckDB / Sluice |",
             "|---|---|---|---|---|---|---|---|---|"]
    for r in results:
        def cell(key, form="{:.2f}"):
            return form.format(r[key]) if key in r else "–"
        rate = f"{r['rows'] / r['sluice_s'] / 1e6:.2f} M" if "rows" in r else "–"
        ratio = f"**{r['flink_s'] / r['sluice_s']:.1f}×**" if "flink_s" in r else "–"
        duck = f"{r['duckdb_s'] / r['sluice_s']:.1f}×" if "duckdb_s" in r else "–"
        rows = f"{r['rows']:,}" if "rows" in r else "–"
        lines.append(f"| {r['job']} | {rows} | {r['sluice_s']:.3f} | {rate} | {r['sluice_mib']:.0f} | {cell('flink_s')} | {ratio} | {cell('duckdb_s')} | {duck} |")
    return "\n".join(lines) + "\n\nRepeat: `./dev bench` (needs Java 17 and Maven for Flink and Kafka; `--no-flink` without).\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--only", default=",".join(JOBS))
    parser.add_argument("--no-flink", action="store_true")
    parser.add_argument("--out", default=str(ROOT / "bench" / "RESULTS.md"))
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="sluice-bench-"))
    flink = None if options.no_flink else Flink()
    results = []
    try:
        say("making data")
        generate(work, options.rows)
        for name in options.only.split(","):
            say(f"running {name}")
            results.append(JOBS[name](options, work, flink))
            say(json.dumps(results[-1]))
    finally:
        if flink:
            flink.stop()
        shutil.rmtree(work, ignore_errors=True)
    text = table(results, options)
    pathlib.Path(options.out).write_text(text)
    print(text)


if __name__ == "__main__":
    main()
