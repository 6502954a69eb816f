#!/usr/bin/env python3
"""Does throughput grow with cores? Parallelism 1 beside 2, where the disk is not the limit: results go to memory (/dev/shm) or nowhere.

  bench/scaling.py                   W1, W2, W3 and W5's GROUP BY
  bench/scaling.py --rows 2000000    smaller

In turn: one subtask on one core, one subtask with all cores (helpers of the runtime may use the others), two subtasks with all cores. One JSON line each:
medians of the seconds, and what two subtasks give over one ("cores": over one on one core).
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

from harness import data, measure, settings, sluice
from workloads import lake, w1

CORES = os.sched_getaffinity(0)
TURNS = (("one_core", 1, {min(CORES)}), ("one", 1, CORES), ("two", 2, CORES))


def jobs(options):
    """(name, SQL, folder of the results or None)."""
    out = options.work / "out"
    yield "W1 datagen → blackhole", w1.script(options.rows * 10), None
    for name, form in (("W2 CSV", "csv"), ("W3 JSON", "json")):
        yield f"{name} → Parquet in memory", lake.job(lake.file_table(data.make(options, "orders", form), form), out), out
    table = options.work / "lake"
    sluice.run(options, lake.job(lake.file_table(data.make(options, "orders", "csv"), "csv"), table))
    users = "SELECT COUNT(*), SUM(n) FROM (SELECT user_id, COUNT(*) AS n FROM lake GROUP BY user_id);\n"
    yield "W5 GROUP BY 100,000 users", "SET 'execution.runtime-mode' = 'batch';\n" + lake.table(table) + users, None


def seconds(options, sql, out, parallelism, cores):
    os.sched_setaffinity(0, cores)
    try:
        return sluice.run(options, f"SET 'parallelism.default' = '{parallelism}';\n" + sql).wall_s
    finally:
        os.sched_setaffinity(0, CORES)
        if out:
            shutil.rmtree(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="sluice-scaling-", dir="/dev/shm"))
    options = settings.Settings(rows=arguments.rows, repeats=arguments.repeats, peers=(), flink_repeats=0, flink_rows=0, work=work,
                                data=settings.CACHE / "data", python=sys.executable)
    try:
        for name, sql, out in jobs(options):
            times = {turn: [] for turn, _, _ in TURNS}
            for _ in range(options.repeats):
                for turn, parallelism, cores in TURNS:
                    times[turn].append(seconds(options, sql, out, parallelism, cores))
            found = {turn: statistics.median(values) for turn, values in times.items()}
            print(json.dumps({"workload": "scaling", "job": name, "rows": options.rows, **{f"{turn}_s": round(value, 3) for turn, value in found.items()},
                              "cores": round(found["one_core"] / found["two"], 2), "subtasks": round(found["one"] / found["two"], 2)},
                             ensure_ascii=False), flush=True)
    except measure.Failed as error:
        raise SystemExit(str(error)) from error
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
