#!/usr/bin/env python3
# ctest: timeout=600 serial
"""Kills the process at random moments and at every declared crash point, against a real broker, with an oracle.

A topic of JSON orders is written to Parquet and JSON tables, and to a Parquet table whose files are merged, by one job (a statement set),
partitioned by hour, committed by watermark.
The job is killed with SIGKILL again and again and started with the same command. After every kill, and at the end:

  - every visible file can be read whole, and no row stands in two of them or twice in one;
  - no file but part files, _SUCCESS and hidden ones is there;
  - a partition with _SUCCESS holds every row of its hour: rows come in order, so none may follow its commit;
  - at the end every row of the topic is in published files, once.

A second part kills INSERT OVERWRITE at its crash points: readers see all old or all new rows of each partition.

Usage: run_crash.py [--kills N] [--seed N] [--keep]
"""
import argparse
import collections
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
KAFKA = str(ROOT / "tools" / "services" / "kafka.sh")
OVERWRITE_POINTS = {"sink.before_exchange", "sink.after_exchange"}
ROWS_PER_HOUR = 2500
CHUNK_ROWS = 900  # Several chunks an hour.

# Two policies on the first table, so that there is a moment between policies to be killed at. The idle timeout is longer than a loaded
# machine takes to produce a chunk: a partition that is taken to be idle no longer holds back the commit of its rows' hour.
JOB = """
SET 'execution.checkpointing.interval' = '150 ms';
SET 'execution.checkpointing.dir' = '{dir}/state';
SET 'table.exec.source.idle-timeout' = '60 s';
SET 'table.local-time-zone' = 'UTC';
CREATE TABLE topic (id BIGINT, amount DOUBLE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH (
  'connector' = 'kafka', 'topic' = 'orders', 'properties.bootstrap.servers' = '{broker}', 'properties.group.id' = 'crash',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json');
CREATE TABLE lake_parquet (id BIGINT, amount DOUBLE, `hour` STRING) PARTITIONED BY (`hour`) WITH (
  'connector' = 'filesystem', 'path' = '{dir}/parquet', 'format' = 'parquet',
  'partition.time-extractor.timestamp-pattern' = '$hour:00:00', 'sink.partition-commit.trigger' = 'partition-time',
  'sink.partition-commit.delay' = '1 h', 'sink.partition-commit.policy.kind' = 'success-file,success-file', 'sink.record.enabled' = 'true');
CREATE TABLE lake_json (id BIGINT, amount DOUBLE, `hour` STRING) PARTITIONED BY (`hour`) WITH (
  'connector' = 'filesystem', 'path' = '{dir}/json', 'format' = 'json',
  'sink.rolling-policy.rollover-interval' = '1 s', 'sink.rolling-policy.check-interval' = '200 ms',
  'partition.time-extractor.timestamp-pattern' = '$hour:00:00', 'sink.partition-commit.trigger' = 'partition-time',
  'sink.partition-commit.delay' = '1 h', 'sink.partition-commit.policy.kind' = 'success-file', 'sink.record.enabled' = 'true');
CREATE TABLE lake_merged (id BIGINT, amount DOUBLE, `hour` STRING) PARTITIONED BY (`hour`) WITH (
  'connector' = 'filesystem', 'path' = '{dir}/merged', 'format' = 'parquet', 'auto-compaction' = 'true', 'sink.parallelism' = '2',
  'partition.time-extractor.timestamp-pattern' = '$hour:00:00', 'sink.partition-commit.trigger' = 'partition-time',
  'sink.partition-commit.delay' = '1 h', 'sink.partition-commit.policy.kind' = 'success-file', 'sink.record.enabled' = 'true');
EXECUTE STATEMENT SET BEGIN
INSERT INTO lake_merged SELECT id, amount, DATE_FORMAT(ts, 'yyyy-MM-dd HH') FROM topic;
INSERT INTO lake_parquet SELECT id, amount, DATE_FORMAT(ts, 'yyyy-MM-dd HH') FROM topic;
INSERT INTO lake_json SELECT id, amount, DATE_FORMAT(ts, 'yyyy-MM-dd HH') FROM topic;
END;
"""


class Failure(Exception):
    pass


def hour_of(row):
    return f"2020-05-{20 + row // ROWS_PER_HOUR // 24:02d} {row // ROWS_PER_HOUR % 24:02d}"


def order(row):
    second = row % ROWS_PER_HOUR * 3600 // ROWS_PER_HOUR
    return json.dumps({"id": row, "amount": row / 4, "ts": f"{hour_of(row)}:{second // 60:02d}:{second % 60:02d}"})


def visible_ids(table, form):
    """(partition directory, ids) of every visible file; fails on strays and files that cannot be read."""
    if not table.exists():
        return
    for path in sorted(table.rglob("*")):
        relative = path.relative_to(table)
        if path.is_dir() or any(part.startswith((".", "_")) for part in relative.parts):
            continue
        if not path.name.startswith("compacted-part-" if form == "merged" else "part-"):
            raise Failure(f"stray visible file {path}")
        try:
            if form != "json":
                ids = parquet.ParquetFile(path).read(["id"]).column(0).to_pylist()
            else:
                text = path.read_bytes()
                if text and not text.endswith(b"\n"):
                    raise ValueError("cut last line")
                ids = [json.loads(line)["id"] for line in text.splitlines()]
        except FileNotFoundError:
            raise Failure(f"a visible file vanished: {path}")
        except Exception as error:
            raise Failure(f"visible file {path} cannot be read: {error}")
        yield path.parent, ids


def check(directory, total=None):
    """Checks the invariants; returns the number of rows seen in the Parquet table."""
    seen = {}
    for form in ("parquet", "json", "merged"):
        table = directory / form
        # Markers first: a file may appear after we looked, a marker without its rows must not be there at any moment.
        markers = [path.parent for path in table.rglob("_SUCCESS")] if table.exists() else []
        counts = collections.Counter()
        ids = set()
        for partition, found in visible_ids(table, form):
            counts[partition] += len(found)
            for row in found:
                if row in ids:
                    raise Failure(f"row {row} is twice in {form}, the second time in {partition}")
                ids.add(row)
                if not partition.name.endswith(hour_of(row)):
                    raise Failure(f"row {row} stands in {partition}")
        for partition in markers:
            if counts[partition] != ROWS_PER_HOUR:
                raise Failure(f"{partition} has _SUCCESS with {counts[partition]} of {ROWS_PER_HOUR} rows")
        seen[form] = ids
        if total is not None and len(ids) != total:
            missing = sorted(set(range(total)) - ids)[:5]
            raise Failure(f"{form}: {len(ids)} of {total} rows at the end; missing {missing}")
    return min(len(ids) for ids in seen.values())


class Job:
    def __init__(self, script, log, crash_point=None):
        environment = dict(os.environ)
        environment.pop("SLUICE_CRASH_POINT", None)
        if crash_point:
            environment["SLUICE_CRASH_POINT"] = crash_point
        self.log = log.open("ab")
        self.process = subprocess.Popen([SLUICE, "run", str(script)], stdout=self.log, stderr=self.log, env=environment)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def wait(self, seconds):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None


class Broker:
    def __init__(self):
        self.environment = dict(os.environ, SLUICE_KAFKA_NAME=f"crash{os.getpid()}")
        self.address = self.run("start").strip()

    def run(self, *arguments, data=None):
        result = subprocess.run([KAFKA, *arguments], env=self.environment, input=data, text=True, capture_output=True)
        if result.returncode != 0:
            raise Failure(f"kafka.sh {' '.join(arguments)}: {result.stderr}")
        return result.stdout

    def produce(self, rows):
        # Key-less lines go to partitions in chunks; a fixed spread keeps each partition in order of time.
        for partition in range(3):
            lines = "".join(order(row) + "\n" for row in rows if row % 3 == partition)
            if lines:
                self.run("produce", "orders", "--", "-p", str(partition), data=lines)


def verify(table, total):
    """What `sluice verify` says by the table's own records."""
    done = subprocess.run([SLUICE, "verify", str(table), "--output", "json"], capture_output=True, text=True)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    summary = lines[-1] if lines else {}
    # Kafka's offsets from the beginning: what was read is what was produced.
    read = sum(end for name, (_, end) in summary.get("sources", {}).items() if "orders-" in name)
    if done.returncode != 0 or summary["recorded_rows"] != total or read != total:
        raise Failure(f"sluice verify {table}: exit {done.returncode}, {lines}, {done.stderr}")
    print(f"{table.name}: verified, {summary['recorded_files']} files in {summary['records']} records", flush=True)


def run_streaming(options, chance, directory, log):
    broker = Broker()
    try:
        broker.run("topic", "orders", "3")
        script = directory / "job.sql"
        script.write_text(JOB.format(dir=directory, broker=broker.address))
        points = [p for p in subprocess.check_output([SLUICE, "--list-crash-points"], text=True).split() if p not in OVERWRITE_POINTS and not p.startswith(("store.", "source."))]
        rounds = [None] * options.kills + points
        chance.shuffle(rounds)
        produced = 0
        unreached = []
        for number, point in enumerate(rounds):
            visit = chance.randint(1, 2)
            job = Job(script, log, f"{point}:{visit}" if point else None)
            deadline = time.time() + (20 if point else chance.uniform(0.05, 1.5))
            # Rows keep coming while the job runs, enough of them that hours end and partitions are committed.
            while True:
                broker.produce(range(produced, produced + CHUNK_ROWS))
                produced += CHUNK_ROWS
                code = job.wait(max(0.0, min(0.4, deadline - time.time())))
                if code is not None or time.time() >= deadline:
                    break
            if code is None:
                job.kill()
                if point:
                    unreached.append(f"{point}:{visit}")
            elif not point or code != -signal.SIGKILL:
                raise Failure(f"the job ended with {code} instead of being killed at {point or 'a random moment'}")
            rows = check(directory)
            print(f"round {number + 1}/{len(rounds)}: killed at {point or 'a random moment'}, {rows} of {produced} rows visible", flush=True)
        if unreached:
            raise Failure(f"crash points that were not reached: {', '.join(unreached)}")
        total = -(-produced // ROWS_PER_HOUR) * ROWS_PER_HOUR
        broker.produce(range(produced, total))
        job = Job(script, log)
        deadline = time.time() + 60
        while check(directory) < total and time.time() < deadline:
            if job.wait(0.5) is not None:
                raise Failure(f"the job ended by itself with {job.process.returncode}")
        job.process.send_signal(signal.SIGTERM)
        code = job.wait(15)
        if code != 0:
            job.kill()
            raise Failure(f"SIGTERM: exit {code} instead of 0 within 15 s")
        check(directory, total)
        print(f"all {total} rows are published once in all tables")
        for table in ("parquet", "json", "merged"):
            verify(directory / table, total)
    finally:
        broker.run("wipe")


OVERWRITE = """
SET 'execution.runtime-mode' = 'batch';
SET 'execution.checkpointing.dir' = '{dir}/state';
CREATE TABLE t (id BIGINT, p STRING) PARTITIONED BY (p) WITH ('connector' = 'filesystem', 'path' = '{dir}/over', 'format' = 'json',
  'sink.partition-commit.policy.kind' = 'success-file');
INSERT OVERWRITE t VALUES {values};
"""


def overwrite_script(directory, name, generation):
    values = ", ".join(f"({generation * 100 + i}, 'p{i % 3}')" for i in range(9))
    script = directory / name
    script.write_text(OVERWRITE.format(dir=directory, values=values))
    return script


def check_overwrite(directory, old, new):
    for partition in range(3):
        ids = set()
        for path in (directory / "over" / f"p=p{partition}").glob("part-*"):
            ids.update(json.loads(line)["id"] for line in path.read_text().splitlines())
        expected = [{g * 100 + i for i in range(9) if i % 3 == partition} for g in (old, new)]
        if ids not in expected:
            raise Failure(f"overwrite: partition p{partition} holds {sorted(ids)}, neither all old nor all new rows")


def run_overwrite(directory, log):
    if Job(overwrite_script(directory, "over-0.sql", 0), log).wait(30) != 0:
        raise Failure(f"the first INSERT OVERWRITE failed, see {log}")
    generation = 0
    points = subprocess.check_output([SLUICE, "--list-crash-points"], text=True).split()
    for point in points:
        for visit in (1, 2):
            script = overwrite_script(directory, f"over-{generation + 1}.sql", generation + 1)
            code = Job(script, log, f"{point}:{visit}").wait(30)
            if code == -signal.SIGKILL:
                check_overwrite(directory, generation, generation + 1)
                if Job(script, log).wait(30) != 0:
                    raise Failure(f"the overwrite killed at {point}:{visit} cannot be finished, see {log}")
            elif code != 0:
                raise Failure(f"INSERT OVERWRITE with crash point {point}:{visit} ended with {code}, see {log}")
            elif point in OVERWRITE_POINTS and visit == 1:
                raise Failure(f"INSERT OVERWRITE never reached {point}")
            generation += 1
            check_overwrite(directory, generation, generation)
    print(f"overwrite: {generation} generations, every partition whole at every crash point")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("--keep", action="store_true", help="keep the files of the run")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-crash-"))
    log = directory / "job.log"
    try:
        run_overwrite(directory, log)
        run_streaming(options, random.Random(options.seed), directory, log)
    except Failure as failure:
        print(f"FAILED (seed {options.seed}): {failure}\nfiles and log are kept in {directory}", file=sys.stderr)
        print(log.read_text(errors="replace")[-4000:] if log.exists() else "", file=sys.stderr)
        return 1
    if not options.keep:
        shutil.rmtree(directory)
    return 0


if __name__ == "__main__":
    sys.exit(main())
