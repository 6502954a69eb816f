#!/usr/bin/env python3
# ctest: timeout=420 serial
"""One stream into many tables at once: every format, files closed at checkpoints or not, merged or not; killed again and again.

A bounded stream of numbered rows goes by one job (a statement set) into a table for each combination of format, of
`sink.rolling-policy.on-checkpoint` and of compaction, partitioned by a key and committed with a marker. The job is killed with SIGKILL at
random moments and at the crash points of compaction, and started with the same command, at parallelism 1 and 2 in turn. At every kill and at
the end: each visible file can be read whole (Parquet by pyarrow, at the end by DuckDB too), and no row stands in two of them or twice in one.
At the end every row is there, each table has its markers, nothing hidden is left, and whole-partition compaction has left one file a partition
and commit.

Usage: run_sink_matrix.py [--kills N] [--seed N] [--keep]
"""
import argparse
import collections
import csv
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pyarrow.parquet as parquet

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
ROWS = 6000
KEYS = 3
COMPACTIONS = {
    "off": "",
    "checkpoint": ", 'auto-compaction' = 'true', 'compaction.file-size' = '256 kb'",
    "partition": ", 'auto-compaction' = 'true', 'compaction.scope' = 'partition'",
}
ROLLING = {"default": "", "open": ", 'sink.rolling-policy.on-checkpoint' = 'false'", "closed": ", 'sink.rolling-policy.on-checkpoint' = 'true'"}


class Failure(Exception):
    pass


def combinations():
    for form in ("csv", "json", "raw", "parquet"):
        for rolling in ROLLING:
            for compaction in COMPACTIONS:
                if rolling == "default" and compaction != "checkpoint":
                    continue  # Is one of the other two.
                if rolling == "open" and compaction == "checkpoint":
                    continue  # Refused when planned.
                yield form, rolling, compaction


def table_name(form, rolling, compaction):
    return f"t_{form}_{rolling}_{compaction}"


def script(directory, parallelism):
    text = f"""
SET 'execution.checkpointing.interval' = '150 ms';
SET 'execution.checkpointing.dir' = '{directory}/state';
SET 'pipeline.name' = 'matrix';
SET 'parallelism.default' = '{parallelism}';
CREATE TABLE numbers (id BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '{ROWS}', 'rows-per-second' = '1500',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '0', 'fields.id.end' = '{ROWS - 1}');
"""
    inserts = ""
    for form, rolling, compaction in combinations():
        name = table_name(form, rolling, compaction)
        column = "v STRING" if form == "raw" else "id BIGINT"
        value = "CAST(id AS STRING)" if form == "raw" else "id"
        text += f"""CREATE TABLE {name} ({column}, k STRING) PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '{directory}/{name}',
  'format' = '{form}', 'sink.record.enabled' = 'true', 'sink.partition-commit.policy.kind' = 'success-file', 'sink.partition-commit.delay' = '700 ms',
  'sink.rolling-policy.rollover-interval' = '1 s', 'sink.rolling-policy.check-interval' = '200 ms'{ROLLING[rolling]}{COMPACTIONS[compaction]});
"""
        inserts += f"INSERT INTO {name} SELECT {value}, CAST(MOD(id, {KEYS}) AS STRING) FROM numbers;\n"
    path = directory / f"job-{parallelism}.sql"
    path.write_text(text + "EXECUTE STATEMENT SET BEGIN\n" + inserts + "END;\n")
    return path


def ids_of(path, form):
    if form == "parquet":
        return parquet.ParquetFile(path).read(["id"]).column(0).to_pylist()
    text = path.read_bytes()
    if text and not text.endswith(b"\n"):
        raise Failure(f"{path} is cut")
    lines = text.decode().splitlines()
    if form == "json":
        return [json.loads(line)["id"] for line in lines]
    return [int(row[0]) for row in csv.reader(lines)]


def check(directory, final):
    counts = {}
    for form, rolling, compaction in combinations():
        name = table_name(form, rolling, compaction)
        seen = set()
        files = collections.Counter()
        for path in sorted((directory / name).rglob("*")) if (directory / name).exists() else []:
            relative = path.relative_to(directory / name)
            if path.is_dir() or any(part.startswith((".", "_")) for part in relative.parts):
                continue
            if not path.name.startswith(("part-", "compacted-part-")):
                raise Failure(f"stray visible file {path}")
            files[path.parent.name] += 1
            try:
                ids = ids_of(path, form)
            except Failure:
                raise
            except Exception as error:
                raise Failure(f"visible file {path} cannot be read: {error}")
            for row in ids:
                if row in seen:
                    raise Failure(f"row {row} stands twice in {name}, the second time in {path}")
                if path.parent.name != f"k={row % KEYS}":
                    raise Failure(f"row {row} stands in {path}")
                seen.add(row)
        counts[name] = len(seen)
        if not final:
            continue
        if len(seen) != ROWS:
            raise Failure(f"{name} has {len(seen)} of {ROWS} rows; missing {sorted(set(range(ROWS)) - seen)[:5]}")
        hidden = [path for path in (directory / name).rglob(".*")]
        if hidden:
            raise Failure(f"left behind: {hidden[:3]}")
        markers = list((directory / name).rglob("_SUCCESS"))
        if len(markers) != KEYS:
            raise Failure(f"{name} has {len(markers)} markers")
        done = subprocess.run([SLUICE, "verify", str(directory / name)], capture_output=True, text=True)
        if done.returncode != 0 or "Nothing is missing" not in done.stdout:
            raise Failure(f"sluice verify {name}: exit {done.returncode}, {done.stdout} {done.stderr}")
        print(f"{name}: {ROWS} rows in {sum(files.values())} files, verified", flush=True)
    return counts


def check_duckdb(directory):
    import duckdb

    for form, rolling, compaction in combinations():
        if form != "parquet":
            continue
        name = table_name(form, rolling, compaction)
        count, total = duckdb.sql(f"SELECT COUNT(*), SUM(id) FROM read_parquet('{directory}/{name}/**/*part-*', hive_partitioning = true)").fetchall()[0]
        if (count, total) != (ROWS, ROWS * (ROWS - 1) // 2):
            raise Failure(f"DuckDB reads {count} rows of {name}")


def run(directory, log, chance, kills):
    points = [p for p in subprocess.check_output([SLUICE, "--list-crash-points"], text=True).split() if p.startswith("compact.")]
    rounds = points + [None] * kills
    chance.shuffle(rounds)
    number = 0
    while True:
        point = rounds[number] if number < len(rounds) else None
        environment = dict(os.environ)
        environment.pop("SLUICE_CRASH_POINT", None)
        if point:
            environment["SLUICE_CRASH_POINT"] = f"{point}:{chance.randint(1, 4)}"
        path = script(directory, 1 + number % 2)
        process = subprocess.Popen([SLUICE, "run", str(path)], stdout=log.open("ab"), stderr=subprocess.STDOUT, env=environment)
        try:
            code = process.wait(60 if number >= len(rounds) else 15 if point else chance.uniform(0.3, 1.2))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            code = None
        if code == 0:
            if number < len(rounds):
                print(f"the stream ended in round {number + 1} of {len(rounds)}", flush=True)
            return
        if number >= len(rounds):
            raise Failure(f"the job ended with {code}")
        if code not in (None, -signal.SIGKILL):
            raise Failure(f"the job ended with {code}")
        counts = check(directory, False)
        number += 1
        print(f"round {number}: killed at {point or 'a random moment'}, {min(counts.values())} to {max(counts.values())} rows visible", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", action="store_true", help="keep the files of the run")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-matrix-"))
    log = directory / "job.log"
    try:
        run(directory, log, random.Random(options.seed), options.kills)
        check(directory, True)
        check_duckdb(directory)
    except Failure as failure:
        print(f"FAILED (seed {options.seed}): {failure}\nfiles and log are kept in {directory}", file=sys.stderr)
        print(log.read_text(errors="replace")[-4000:] if log.exists() else "", file=sys.stderr)
        return 1
    if not options.keep:
        shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
