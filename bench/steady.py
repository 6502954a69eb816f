#!/usr/bin/env python3
"""Memory over a long stream: is the resident memory of a job flat?

  bench/steady.py                 one hour
  bench/steady.py --minutes 10    shorter

One job, checkpoints every second: a generator writes Parquet files that span checkpoints, into a partition for each ten seconds of event time, merged and committed with
`_SUCCESS`; a watched directory, which gets ten small files a second, goes to JSON files of one partition a minute. So what could grow does: partitions
that have come and gone, known files, published files, checkpoints, table records. Memory is read every five seconds. Prints one JSON line: the medians of the
first and last tenth after a tenth for warming up, the peak, the growth an hour (least squares), processor time, rows and files.
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
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
COMMIT = ("'sink.partition-commit.policy.kind'='success-file', 'sink.partition-commit.trigger'='partition-time', "
          "'sink.partition-commit.delay'='{delay}', 'partition.time-extractor.timestamp-formatter'='yyyy-MM-dd HH:mm:ss'")


def script(options, work):
    return (f"SET 'execution.checkpointing.interval' = '1 s';\nSET 'execution.checkpointing.dir' = '{work}/state';\n"
            "SET 'parallelism.default' = '2';\nSET 'sluice.memory.limit' = '256 mb';\n"
            "CREATE TABLE gen (id BIGINT, amount DOUBLE, note STRING, ts AS TIMESTAMPADD(SECOND, CAST(id / "
            f"{options.rate} AS INT), TIMESTAMP '2026-01-01 00:00:00'), WATERMARK FOR ts AS ts) WITH ('connector'='datagen', "
            f"'rows-per-second'='{options.rate}', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='1000000000000');\n"
            "CREATE TABLE incoming (id BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector'='filesystem', "
            f"'path'='{work}/incoming', 'format'='csv', 'source.monitor-interval'='100 ms');\n"
            "CREATE TABLE lake (id BIGINT, amount DOUBLE, note STRING, p STRING) PARTITIONED BY (p) WITH ('connector'='filesystem', "
            f"'path'='{work}/lake', 'format'='parquet', 'sink.rolling-policy.on-checkpoint'='false', 'auto-compaction'='true', 'compaction.scope'='partition', {COMMIT.format(delay='10 s')});\n"
            "CREATE TABLE files (id BIGINT, p STRING) PARTITIONED BY (p) WITH ('connector'='filesystem', "
            f"'path'='{work}/files', 'format'='json', {COMMIT.format(delay='1 min')});\n"
            "EXECUTE STATEMENT SET BEGIN\n"
            "INSERT INTO lake SELECT id, amount, note, CONCAT(SUBSTRING(DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:ss'), 1, 18), '0') FROM gen;\n"
            "INSERT INTO files SELECT id, DATE_FORMAT(ts, 'yyyy-MM-dd HH:mm:00') FROM incoming;\nEND;\n")


def put_files(work, stop):
    """Ten files a second, each put in place at once, with the time of now."""
    number = 0
    while not stop.wait(0.1):
        hidden = work / "incoming" / f".rows-{number}"
        now = datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        hidden.write_text("".join(f"{number * 10 + row},{now}\n" for row in range(10)))
        hidden.rename(work / "incoming" / f"rows-{number:08}.csv")
        number += 1


def resident_mib(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def processor_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def growth_an_hour(samples):
    """The slope of (seconds, MiB) by least squares, in MiB an hour."""
    mean_time = statistics.fmean(when for when, _ in samples)
    mean_size = statistics.fmean(size for _, size in samples)
    spread = sum((when - mean_time) ** 2 for when, _ in samples)
    return 3600 * sum((when - mean_time) * (size - mean_size) for when, size in samples) / spread


def watch(process, minutes):
    samples = []
    begin = time.monotonic()
    while (elapsed := time.monotonic() - begin) < 60 * minutes:
        time.sleep(min(5, minutes))
        if process.poll() is not None:
            raise SystemExit(f"the job ended: {process.stderr.read()[-2000:]}")
        samples.append((elapsed, resident_mib(process.pid)))
    return samples


def counts(work):
    files = [path for table in ("lake", "files") for path in (work / table).rglob("part-*")]
    merged = list((work / "lake").rglob("compacted-*"))
    committed = [path for table in ("lake", "files") for path in (work / table).rglob("_SUCCESS")]
    return {"published_files": len(files) + len(merged), "committed_partitions": len(committed), "watched_files": len(list((work / "incoming").iterdir()))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--rate", type=int, default=20_000, help="rows a second of the generator")
    options = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp(prefix="sluice-steady-"))
    (work / "incoming").mkdir()
    (work / "job.sql").write_text(script(options, work))
    process = subprocess.Popen([SLUICE, "run", "--fresh", str(work / "job.sql")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    stop = threading.Event()
    threading.Thread(target=put_files, args=(work, stop), daemon=True).start()
    try:
        samples = watch(process, options.minutes)
        tenth = max(1, len(samples) // 10)
        warm = samples[tenth:]
        print(json.dumps({"workload": "steady", "minutes": options.minutes, "first_mib": round(statistics.median(size for _, size in warm[:tenth]), 1),
                          "last_mib": round(statistics.median(size for _, size in warm[-tenth:]), 1), "peak_mib": round(max(size for _, size in samples), 1),
                          "growth_mib_an_hour": round(growth_an_hour(warm), 1), "cpu_percent": round(100 * processor_s(process.pid) / (60 * options.minutes), 1),
                          **counts(work)}), flush=True)
    finally:
        stop.set()
        process.kill()
        process.wait()
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
