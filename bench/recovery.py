#!/usr/bin/env python3
"""Recovery: from the start of the process, after a kill -9, until the next row is committed (its file is visible under its final name).

  bench/recovery.py                       100 restarts, checkpoints every 50 ms
  bench/recovery.py --partitions 10000    with that many partitions

A generator that never ends writes csv files; the process is killed at a random moment and started again with the same command. The time is that
of the rename that publishes the first file of the new run (its ctime), so watching does not blur it. At the end every row is there once.
Prints one JSON line a restart with --each, and one with the percentiles.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))


def script(options, work):
    key = f"CAST(MOD(id, {options.partitions}) AS STRING)"
    return (f"SET 'execution.checkpointing.interval' = '{options.interval} ms';\nSET 'sluice.memory.limit' = '512 mb';\n"
            f"SET 'execution.checkpointing.dir' = '{work}/state';\nSET 'parallelism.default' = '{options.parallelism}';\n"
            f"CREATE TABLE gen (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='{options.rate}', 'fields.id.kind'='sequence', "
            "'fields.id.start'='1', 'fields.id.end'='1000000000000');\n"
            f"CREATE TABLE lake (id BIGINT, note STRING, p STRING) PARTITIONED BY (p) WITH ('connector'='filesystem', 'path'='{work}/lake', "
            f"'format'='{options.format}');\nINSERT INTO lake SELECT id, 'row ' || CAST(id AS STRING), {key} FROM gen;\n")


class Lake:
    """The published files of the table; looks only at directories that have changed."""

    def __init__(self, root):
        self.root = root
        self.known = {}

    def new_files(self):
        """Paths that were not there at the last call."""
        found = []
        try:
            partitions = list(os.scandir(self.root))
        except FileNotFoundError:
            return found
        for partition in partitions:
            names = self.known.setdefault(partition.name, set())
            for entry in os.scandir(partition.path):
                if entry.name.startswith("part-") and entry.name not in names:
                    names.add(entry.name)
                    found.append(entry.path)
        return found


def first_commit_ms(process, lake, started_ns, deadline):
    while time.monotonic() < deadline:
        found = lake.new_files()
        if found:
            return (min(os.stat(path).st_ctime_ns for path in found) - started_ns) / 1e6
        if process.poll() is not None:
            raise SystemExit(f"the job ended: {process.stderr.read().decode()[-2000:]}")
        time.sleep(0.002)
    raise SystemExit("no row was committed in time")


def check_rows(lake_root):
    """Every id once; none left out but those that the last run did not publish."""
    ids = []
    for directory, _, names in os.walk(lake_root):
        for name in names:
            if name.startswith("part-"):
                with open(os.path.join(directory, name)) as rows:
                    ids.extend(int(line.split(",", 1)[0]) for line in rows)
    if len(ids) != len(set(ids)):
        raise SystemExit(f"{len(ids) - len(set(ids))} rows are there twice")
    return len(ids)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--restarts", type=int, default=100)
    parser.add_argument("--interval", type=int, default=50)
    parser.add_argument("--rate", type=int, default=20_000)
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--parallelism", type=int, default=1)
    parser.add_argument("--format", default="csv")
    parser.add_argument("--run-ms", type=int, default=300, help="how long each run goes on behind its first commit")
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--work", default="")
    options = parser.parse_args()
    work = pathlib.Path(options.work or tempfile.mkdtemp(prefix="sluice-recovery-"))
    work.mkdir(exist_ok=True)
    (work / "job.sql").write_text(script(options, work))
    lake = Lake(work / "lake")
    times = []
    chance = random.Random(1)
    try:
        for run in range(options.restarts + 1):
            lake.new_files()
            started_ns = time.time_ns()
            process = subprocess.Popen([SLUICE, "run", str(work / "job.sql")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            took = first_commit_ms(process, lake, started_ns, time.monotonic() + 120)
            if run > 0:  # The first one restores nothing.
                times.append(took)
                if options.each:
                    print(json.dumps({"workload": "W9", "restart": run, "ms": round(took, 1)}), flush=True)
            time.sleep(chance.uniform(0.2, 1.8) * options.run_ms / 1000)
            process.kill()
            process.wait()
            process.stderr.close()
        rows = check_rows(work / "lake") if options.format == "csv" else None
        print(json.dumps({"workload": "W9", "engine": "sluice", "restarts": options.restarts, "interval_ms": options.interval,
                          "partitions": options.partitions, "p50_ms": round(statistics.median(times), 1), "p90_ms": round(percentile(times, 0.9), 1),
                          "p99_ms": round(percentile(times, 0.99), 1), "max_ms": round(max(times), 1), "rows_once": rows}), flush=True)
    finally:
        if not options.work:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
