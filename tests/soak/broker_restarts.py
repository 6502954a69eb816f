"""A job reads a topic while its broker is killed and started again; every row that the broker acknowledged is in the tables once."""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import pyarrow.parquet as parquet

from agitation import Failure

ROOT = pathlib.Path(__file__).resolve().parents[2]
KAFKA = str(ROOT / "tools" / "services" / "kafka.sh")
PARTITIONS = 3
CHUNK_ROWS = 3000

JOB = """
SET 'execution.checkpointing.interval' = '300 ms';
SET 'execution.checkpointing.dir' = '{directory}/state';
CREATE TABLE topic (id BIGINT) WITH ('connector' = 'kafka', 'topic' = 'rows', 'properties.bootstrap.servers' = '{broker}', 'properties.group.id' = 'soak',
  'scan.startup.mode' = 'earliest-offset', 'format' = 'json');
CREATE TABLE t_parquet (id BIGINT, k BIGINT) PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '{directory}/parquet', 'format' = 'parquet');
CREATE TABLE t_json (id BIGINT, k BIGINT) PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '{directory}/json', 'format' = 'json',
  'sink.rolling-policy.rollover-interval' = '1 s', 'sink.rolling-policy.check-interval' = '200 ms');
EXECUTE STATEMENT SET BEGIN
INSERT INTO t_parquet SELECT id, MOD(id, 4) FROM topic;
INSERT INTO t_json SELECT id, MOD(id, 4) FROM topic;
END;
"""


class Broker:
    def __init__(self):
        self.environment = dict(os.environ, SLUICE_KAFKA_NAME=f"soak{os.getpid()}")
        self.address = self.run("start").strip()

    def run(self, *arguments, data=None):
        done = subprocess.run([KAFKA, *arguments], env=self.environment, input=data, text=True, capture_output=True)
        if done.returncode != 0:
            raise Failure(f"kafka.sh {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def produce(self, first):
        for partition in range(PARTITIONS):
            lines = "".join(json.dumps({"id": row}) + "\n" for row in range(first, first + CHUNK_ROWS) if row % PARTITIONS == partition)
            self.run("produce", "rows", "--", "-p", str(partition), data=lines)


def ids(directory, form):
    for path in (directory / form).glob("k=*/part-*"):
        if form == "parquet":
            yield from parquet.ParquetFile(path).read(["id"]).column(0).to_pylist()
        else:
            yield from (json.loads(line)["id"] for line in path.read_text().splitlines())


def check(directory, total=None):
    least = None
    for form in ("parquet", "json"):
        counts = collections.Counter(ids(directory, form))
        twice = [row for row, count in counts.items() if count > 1]
        if twice:
            raise Failure(f"{len(twice)} rows of {form} are there twice, such as {twice[:3]}; files are in {directory}")
        if total is not None and len(counts) != total:
            raise Failure(f"{form} has {len(counts)} of {total} rows; files are in {directory}")
        least = len(counts) if least is None else min(least, len(counts))
    return least


def broker_restarts(sluice, restarts, chance):
    """Returns the rows produced and the number of restarts; raises Failure."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-broker-"))
    broker = Broker()
    job = None
    try:
        broker.run("topic", "rows", str(PARTITIONS))
        script = directory / "job.sql"
        script.write_text(JOB.format(directory=directory, broker=broker.address))
        with (directory / "log").open("w") as log:
            job = subprocess.Popen([sluice, "run", str(script)], stdout=log, stderr=log, cwd=directory)
        produced = 0
        for number in range(restarts):
            broker.produce(produced)
            produced += CHUNK_ROWS
            time.sleep(chance.uniform(0, 0.6))  # In the middle of reading it, as often as not.
            broker.run("kill")
            time.sleep(chance.uniform(0, 3))
            broker.run("start")
            if job.poll() is not None:
                raise Failure(f"the job ended with {job.returncode}: {(directory / 'log').read_text()[-2000:]}")
            if number % 5 == 4:
                print(f"  {number + 1} restarts of the broker, {check(directory)} of {produced} rows visible", flush=True)
        deadline = time.monotonic() + 120
        while check(directory) < produced and time.monotonic() < deadline:
            time.sleep(1)
        job.send_signal(signal.SIGTERM)
        if job.wait(30) != 0:
            raise Failure(f"SIGTERM: exit {job.returncode}")
        check(directory, produced)
    finally:
        if job and job.poll() is None:
            job.kill()
        broker.run("wipe")
    shutil.rmtree(directory)
    return produced, restarts
