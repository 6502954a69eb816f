#!/usr/bin/env python3
"""Compares the two ways of fetching from Kafka ('scan.fetch.implementation'), alternating in one run: draining a topic (raw values
into a blackhole) and the JSON job of run.py (partitioned Parquet, exactly once). The broker shares the cores, so what counts is the
CPU time of Sluice's process; wall time is printed beside it.

Usage: kafka_fetch.py [--rows N] [--repeats N] [--jobs drain,lake] [--codec C] [--fetch native,librdkafka] [--keep]
--keep leaves the broker and its topic for the next run.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
KAFKA = str(ROOT / "tools" / "services" / "kafka.sh")


def lines(rows):
    """JSON orders of about 132 bytes over two days."""
    for i in range(rows):
        second = i * 7919 % 172800
        yield (f'{{"order_id":{i},"user_id":{i * 31 % 100000},"amount":{i % 100000 / 100},"note":"{i * 2654435761 % (1 << 80):048x}",'
               f'"ts":"2020-05-{20 + second // 86400} {second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}"}}\n')


def fill(environment, topic, rows, codec):
    def kafka(*arguments, **more):
        return subprocess.run([KAFKA, *arguments], env=environment, check=True, text=True, capture_output=True, **more).stdout
    broker = kafka("start").strip()
    if topic in kafka("topics").split():
        return broker
    kafka("topic", topic, "1")
    block = 200_000
    text = "".join(lines(min(rows, block)))  # Repeated: the generator is slower than the broker.
    with subprocess.Popen([KAFKA, "produce", topic, "--", "-z", codec], env=environment, stdin=subprocess.PIPE, text=True) as process:
        for _ in range(max(1, rows // block)):
            process.stdin.write(text)
        process.stdin.close()
    return broker


def source(broker, topic, fetch, columns, form):
    return (f"CREATE TABLE source ({columns}) WITH ('connector'='kafka', 'topic'='{topic}', 'properties.bootstrap.servers'='{broker}', "
            f"'scan.startup.mode'='earliest-offset', 'scan.bounded.mode'='latest-offset', 'format'='{form}', 'scan.fetch.implementation'='{fetch}');\n")


def drain(broker, topic, fetch, work):
    return source(broker, topic, fetch, "v BYTES", "raw") + "CREATE TABLE hole (v BYTES) WITH ('connector'='blackhole');\nINSERT INTO hole SELECT v FROM source;\n"


def lake(broker, topic, fetch, work):
    shutil.rmtree(work / "lake", ignore_errors=True)
    columns = "order_id BIGINT, user_id INT, amount DOUBLE, note STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND"
    return ("SET 'execution.checkpointing.interval' = '5 s';\n" + source(broker, topic, fetch, columns, "json") +
            "CREATE TABLE lake (order_id BIGINT, user_id INT, amount DOUBLE, note STRING, dt STRING, `hour` STRING) PARTITIONED BY (dt, `hour`) "
            f"WITH ('connector'='filesystem', 'path'='{work}/lake', 'format'='parquet', 'sink.partition-commit.policy.kind'='success-file');\n"
            "INSERT INTO lake SELECT order_id, user_id, amount, note, DATE_FORMAT(ts, 'yyyy-MM-dd'), DATE_FORMAT(ts, 'HH') FROM source;\n")


def measure(sql, work):
    script = work / "job.sql"
    script.write_text(sql)
    began = time.monotonic()
    process = subprocess.Popen([SLUICE, "run", "--fresh", str(script)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env=dict(os.environ, XDG_STATE_HOME=str(work / "state")))
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{sql}\n{output[-3000:]}")
    return usage.ru_utime + usage.ru_stime, time.monotonic() - began, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--jobs", default="drain,lake")
    parser.add_argument("--codec", default="none")
    parser.add_argument("--fetch", default="native,librdkafka")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    environment = dict(os.environ, SLUICE_KAFKA_NAME="benchfetch")
    work = pathlib.Path(tempfile.mkdtemp(prefix="sluice-bench-kafka-"))
    topic = f"orders-{options.rows}-{options.codec}"
    try:
        broker = fill(environment, topic, options.rows, options.codec)
        for name in options.jobs.split(","):
            best = {}
            for _ in range(options.repeats):
                for fetch in options.fetch.split(","):
                    result = measure({"drain": drain, "lake": lake}[name](broker, topic, fetch, work), work)
                    best[fetch] = min(best.get(fetch, result), result)
            for fetch, (cpu, wall, mib) in best.items():
                print(f"{name:6} {fetch:11} {options.rows:,} rows: {cpu:.2f} CPU s ({options.rows / cpu / 1e6:.2f} M rows a CPU second), "
                      f"{wall:.2f} s wall ({options.rows / wall / 1e6:.2f} M rows/s), peak {mib:.0f} MiB", flush=True)
    finally:
        shutil.rmtree(work)
        if not options.keep:
            subprocess.run([KAFKA, "wipe"], env=environment, capture_output=True)


if __name__ == "__main__":
    main()
