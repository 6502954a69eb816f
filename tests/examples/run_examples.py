#!/usr/bin/env python3
# ctest: timeout=300 serial
"""Runs the scripts of examples/ as their heads say, and reads the results with other readers.

quickstart.sql needs nothing. kafka_to_lake.sql runs against a real broker; its rows are read back by sluice, pyarrow and DuckDB and must
be those that were produced.
"""
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import duckdb
import pyarrow.parquet as parquet

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
KAFKA = str(ROOT / "tools" / "services" / "kafka.sh")
LAKE = ("CREATE TABLE lake (user_id STRING, order_amount DOUBLE, dt STRING, `hour` STRING) PARTITIONED BY (dt, `hour`) WITH "
        "('connector' = 'filesystem', 'path' = 'orders-lake', 'format' = 'parquet');")


def expect(condition, what):
    if not condition:
        raise SystemExit(f"FAILED: {what}")


def run(arguments, directory):
    done = subprocess.run([SLUICE, "run", *arguments], cwd=directory, capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, f"sluice run {arguments} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def environment(directory, **more):
    return dict(os.environ, XDG_STATE_HOME=str(directory / "state"), **more)


def quickstart(directory):
    os.environ["XDG_STATE_HOME"] = str(directory / "state")
    output = run([str(ROOT / "examples" / "quickstart.sql")], directory)
    expect("partitions=[{dt=2020-05-20, hour=12}]" in output, f"the plan shows the pruned partition:\n{output}")
    expect("2 rows in set" in output, f"the last query prints two hours:\n{output}")
    lake = directory / "quickstart-lake" / "dt=2020-05-20"
    expect(len(list(lake.glob("hour=*/_SUCCESS"))) == 24, "24 committed partitions")
    rows = sum(parquet.ParquetFile(path).metadata.num_rows for path in lake.glob("hour=*/part-*"))
    expect(rows == 1_000_000, f"pyarrow reads {rows} rows instead of 1,000,000")
    expect(not list(lake.glob("hour=*/.*")), "no hidden file is left")


def orders(count):
    start = datetime.datetime(2020, 5, 20, 8)
    for i in range(count):
        time_of_order = start + datetime.timedelta(seconds=i * 14400 / count)
        yield {"user_id": f"u{i}", "order_amount": i / 8, "log_ts": time_of_order.strftime("%Y-%m-%d %H:%M:%S")}


def kafka_to_lake(directory):
    broker_environment = environment(directory, SLUICE_KAFKA_NAME=f"examples{os.getpid()}")

    def kafka(*arguments, data=None):
        done = subprocess.run([KAFKA, *arguments], env=broker_environment, input=data, capture_output=True, text=True)
        expect(done.returncode == 0, f"kafka.sh {arguments}: {done.stderr}")
        return done.stdout

    address = kafka("start").strip()
    try:
        kafka("topic", "orders", "2")
        sent = list(orders(8000))
        for partition in range(2):
            kafka("produce", "orders", "--", "-p", str(partition),
                  data="".join(json.dumps(order) + "\n" for order in sent[partition::2]))
        text = (ROOT / "examples" / "kafka_to_lake.sql").read_text()
        expect("127.0.0.1:19092" in text, "the example names the broker of tools/services")
        script = directory / "kafka_to_lake.sql"
        script.write_text(text.replace("127.0.0.1:19092", address).replace("'10 s'", "'500 ms'"))
        job = subprocess.Popen([SLUICE, "run", str(script)], cwd=directory, env=broker_environment, stderr=subprocess.PIPE, text=True)
        lake = directory / "orders-lake" / "dt=2020-05-20"
        deadline = time.time() + 60
        # The watermark ends five seconds before 12:00: the hours 08 to 10 are complete.
        while len(list(lake.glob("hour=*/_SUCCESS"))) < 3 and time.time() < deadline:
            time.sleep(0.2)
        job.send_signal(signal.SIGTERM)
        log = job.communicate(timeout=30)[1]
        expect(job.returncode == 0, f"SIGTERM ends the job with {job.returncode}:\n{log}")
        committed = sorted(path.parent.name for path in lake.glob("hour=*/_SUCCESS"))
        expect(committed == ["hour=08", "hour=09", "hour=10"], f"committed hours {committed}:\n{log}")
        compare_readers(directory, sent)
    finally:
        kafka("wipe")


def compare_readers(directory, sent):
    expected = sorted((o["user_id"], o["order_amount"], o["log_ts"][11:13]) for o in sent)
    output = run(["-e", LAKE + " SELECT user_id, order_amount, `hour` FROM lake", "--output", "json", "-D", "execution.runtime-mode=batch"], directory)
    ours = sorted((r["user_id"], r["order_amount"], r["hour"]) for r in map(json.loads, output.splitlines()))
    expect(ours == expected, f"sluice reads {len(ours)} rows, {len(expected)} were sent")
    arrow = []
    for path in (directory / "orders-lake").rglob("part-*"):
        hour = re.search(r"hour=(\d+)", str(path)).group(1)
        arrow += [(r["user_id"], r["order_amount"], hour) for r in parquet.ParquetFile(path).read().to_pylist()]
    expect(sorted(arrow) == expected, f"pyarrow reads {len(arrow)} rows")
    duck = duckdb.sql(f"SELECT user_id, order_amount, hour FROM read_parquet('{directory}/orders-lake/**/part-*', hive_partitioning = true, "
                      "hive_types_autocast = false)").fetchall()
    expect(sorted(duck) == expected, f"DuckDB reads {len(duck)} rows")


def main():
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-examples-"))
    try:
        quickstart(directory)
        print("quickstart.sql: 1,000,000 rows in 24 committed partitions, pruned query", flush=True)
        kafka_to_lake(directory)
        print("kafka_to_lake.sql: same rows by sluice, pyarrow and DuckDB")
    finally:
        shutil.rmtree(directory, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
