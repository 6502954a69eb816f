#!/usr/bin/env python3
"""Commit latency: from the moment when the watermark can pass a partition's end until its _SUCCESS is visible.

  bench/commit_latency.py                        40 partitions, checkpoints every 10 s
  bench/commit_latency.py --interval 1000        another interval
  bench/commit_latency.py --no-early             without early checkpoints, for comparison

Files are put into a watched directory: one with rows of partition n, and 1.2 s later one of partition n + 1, whose event time takes the watermark past
the end of n. The time runs from the rename that puts that file into place to the ctime of _SUCCESS, so noticing and reading it is in it. Prints one JSON line.
"""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
START = datetime.datetime(2020, 5, 20)


def script(options, work):
    return (f"SET 'execution.checkpointing.interval' = '{options.interval} ms';\nSET 'execution.checkpointing.dir' = '{work}/state';\n"
            "SET 'parallelism.default' = '1';\n"
            "CREATE TABLE incoming (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='filesystem', "
            f"'path'='{work}/incoming', 'format'='csv', 'source.monitor-interval'='{options.monitor} ms');\n"
            "CREATE TABLE lake (id BIGINT, p STRING) PARTITIONED BY (p) WITH ('connector'='filesystem', "
            f"'path'='{work}/lake', 'format'='{options.format}', 'sink.partition-commit.policy.kind'='success-file', "
            "'sink.partition-commit.trigger'='partition-time', 'sink.partition-commit.delay'='1 min', "
            f"'sink.partition-commit.early-checkpoint'='{'false' if options.no_early else 'true'}');\n"
            "INSERT INTO lake SELECT id, DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:00') FROM incoming;\n")


def put(work, number, when):
    """A file of that time, in place at once; the time of that in ns. Of several batches: a file gives a watermark while it is read."""
    hidden = work / "incoming" / f".rows-{number}"
    hidden.write_text(f"{number},{when.strftime('%Y-%m-%d %H:%M:%S.%f')[:-3]}\n" * 30_000)
    hidden.rename(work / "incoming" / f"rows-{number:06}.csv")
    return time.time_ns()


def wait_for(path, process, seconds):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            return os.stat(path).st_ctime_ns
        except FileNotFoundError:
            pass
        if process.poll() is not None:
            raise SystemExit(f"the job ended: {process.stderr.read()[-2000:]}")
        time.sleep(0.001)
    raise SystemExit(f"{path} did not come")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, default=40)
    parser.add_argument("--interval", type=int, default=10_000)
    parser.add_argument("--monitor", type=int, default=10, help="how often the directory is looked at, in ms")
    parser.add_argument("--format", default="csv")
    parser.add_argument("--no-early", action="store_true")
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="sluice-commit-"))
    (work / "incoming").mkdir()
    (work / "job.sql").write_text(script(options, work))
    process = subprocess.Popen([SLUICE, "run", "--fresh", str(work / "job.sql")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    times = []
    try:
        number = 0
        for partition in range(options.partitions + 1):
            begin = START + datetime.timedelta(minutes=partition)
            passed_ns = put(work, number, begin + datetime.timedelta(milliseconds=10))
            if partition > 0:
                before = START + datetime.timedelta(minutes=partition - 1)
                marker = work / "lake" / ("p=" + before.strftime("%Y-%m-%d %H:%M:00").replace(":", "%3A")) / "_SUCCESS"
                times.append((wait_for(marker, process, 3 * options.interval / 1000 + 60) - passed_ns) / 1e6)
            number += 1
            # Early checkpoints are one a second on average.
            time.sleep(1.2)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(work, ignore_errors=True)
    times = sorted(times)
    print(json.dumps({"workload": "W12", "engine": "sluice", "partitions": len(times), "interval_ms": options.interval, "early": not options.no_early,
                      "monitor_ms": options.monitor, "p50_ms": round(statistics.median(times), 1),
                      "p99_ms": round(times[min(len(times) - 1, int(len(times) * 0.99))], 1), "max_ms": round(times[-1], 1)}))


if __name__ == "__main__":
    sys.exit(main())
