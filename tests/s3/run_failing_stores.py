#!/usr/bin/env python3
# ctest: timeout=600
"""Stores that refuse in the middle of a job: what it says, and what it does.

A stream writes a table through a proxy that begins to answer as stores do whose keys have ended, whose rights were taken, that are full or away. What can
heal is tried again; what cannot stops the job with its state kept, and the same command goes on when the cause is gone. Every row is there once
in the end, and no upload is left. The message names the store's answer, the key of the object, the access key and the option to look at.
"""
import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from fault_proxy import Fault, FaultProxy, drop, status
from store_access import KEY, SECRET, Bucket

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from checks import expect, run_tests  # noqa: E402

SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
STORE = str(ROOT / "tools" / "services" / "s3.sh")
ROWS = 600


class World:
    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-stores-"))
        self.service = dict(os.environ, SLUICE_S3_NAME=f"stores-{os.getpid()}", SLUICE_S3_KEY=KEY, SLUICE_S3_SECRET=SECRET)
        self.bucket = Bucket(self.launch("start").strip(), "lake")
        self.proxy = FaultProxy(self.bucket.address)
        self.environment = {key: value for key, value in os.environ.items() if not key.startswith("AWS_")}
        self.environment.update(AWS_EC2_METADATA_DISABLED="true", HOME=str(self.folder))

    def launch(self, command):
        return subprocess.run([STORE, command], env=self.service, capture_output=True, text=True, check=True).stdout

    def close(self):
        self.proxy.close()
        self.launch("wipe")


class Stream:
    """A job of ROWS rows into a table of csv, a second of them in each checkpoint."""

    def __init__(self, world, name, retry="2 s"):
        self.world, self.name = world, name
        self.log = world.folder / f"{name}.log"
        self.script = world.folder / f"{name}.sql"
        self.state = world.folder / f"{name}-state"
        self.script.write_text(
            f"SET 'execution.checkpointing.interval' = '500 ms';\nSET 'execution.checkpointing.dir' = '{self.state}';\n"
            f"SET 's3.endpoint' = '{world.proxy.address}';\nSET 's3.access-key' = '{KEY}';\nSET 's3.secret-key' = '{SECRET}';\nSET 's3.retry.timeout' = '{retry}';\n"
            f"CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '200', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '{ROWS}');\n"
            f"CREATE TABLE t (id BIGINT, k STRING) PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = 's3://lake/{name}', 'format' = 'csv', "
            "'sink.partition-commit.policy.kind' = 'success-file');\nINSERT INTO t SELECT id, CAST(MOD(id, 2) AS STRING) FROM g;\n"
        )

    def start(self):
        with self.log.open("w") as log:
            self.process = subprocess.Popen([SLUICE, "run", str(self.script)], stdout=log, stderr=log, env=self.world.environment)
        return self

    def start_and_wait_for_rows(self):
        self.start()
        deadline = time.monotonic() + 20
        while not self.world.bucket.visible(self.name) and time.monotonic() < deadline:
            expect(self.process.poll() is None, f"{self.name}: ended early\n{self.messages[-1500:]}")
            time.sleep(0.1)

    def wait(self, seconds=60):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure(f"{self.name}: no end within {seconds} s\n{self.messages[-1500:]}")

    @property
    def messages(self):
        return self.log.read_text(errors="replace")

    def expect_words(self, words):
        for word in words:
            expect(word in self.messages, f"{self.name}: the message lacks {word!r}\n{self.messages[-1500:]}")
        expect(SECRET not in self.messages, f"{self.name}: the secret is shown")

    def expect_all_rows(self):
        counts = collections.Counter(self.world.bucket.ids(self.name, "csv"))
        twice = [row for row, count in counts.items() if count > 1]
        expect(not twice and len(counts) == ROWS, f"{self.name}: {len(counts)} of {ROWS} rows, {len(twice)} twice")
        left = [upload for upload in self.world.bucket.uploads() if upload[0].startswith(self.name + "/")]
        expect(not left, f"{self.name}: uploads are left {left}")


def test_what_cannot_heal_stops_the_job_and_its_state_is_kept(world):
    cases = [
        (403, "AccessDenied", ["Grant this access key the right", "'s3.access-key'"]),
        (403, "InvalidAccessKeyId", ["Check ", "'s3.access-key'"]),
        (403, "SignatureDoesNotMatch", ["Check ", "'s3.secret-key'"]),
        (400, "ExpiredToken", ["have expired", "Renew them"]),
        (403, "RequestTimeTooSkewed", ["clock of this machine", "Set the machine's clock"]),
        (404, "NoSuchBucket", ["Create the bucket 'lake'", "'s3.endpoint'"]),
    ]
    for code, name, words in cases:
        stream = Stream(world, name)
        stream.start_and_wait_for_rows()
        world.proxy.add(Fault("*", status(code, name)))
        ended = stream.wait(30)
        expect(ended == 1, f"{name}: exit {ended}\n{stream.messages[-1500:]}")
        stream.expect_words([f"{code} {name}", f"s3://lake/{name}/k=", KEY, world.proxy.address, *words])
        expect(list(stream.state.rglob("_metadata")), f"{name}: the state is gone")
        world.proxy.clear()
        ended = stream.start().wait()
        expect(ended == 0 and "resumes from checkpoint" in stream.messages, f"{name}: exit {ended} when the cause was gone\n{stream.messages[-1500:]}")
        stream.expect_all_rows()


def test_what_can_heal_is_tried_again(world):
    """Longer than one request is tried: the job restarts from its checkpoint, and goes on."""
    full = ["The quota of the bucket 'lake' or the disks of the store are full", "have the quota raised", "'s3.retry.timeout'"]
    cases = {
        "QuotaExceeded": (status(403, "QuotaExceeded"), ["403 QuotaExceeded", *full]),
        "XMinioStorageFull": (status(507, "XMinioStorageFull"), ["507 XMinioStorageFull", *full]),
        "SlowDown": (status(503, "SlowDown"), ["503 SlowDown", "'s3.retry.timeout'"]),
        "unreachable": (drop(), ["cannot be reached", "'s3.endpoint'"]),
    }
    for name, (action, words) in cases.items():
        stream = Stream(world, name)
        stream.start_and_wait_for_rows()
        world.proxy.add(Fault("*", action))
        time.sleep(5)
        expect(stream.process.poll() is None, f"{name}: the job has given up\n{stream.messages[-1500:]}")
        world.proxy.clear()
        ended = stream.wait()
        expect(ended == 0, f"{name}: exit {ended} after the store was back\n{stream.messages[-1500:]}")
        stream.expect_words([f"s3://lake/{name}", world.proxy.address, *words])
        stream.expect_all_rows()


def run(world, sql):
    text = f"SET 'execution.runtime-mode' = 'batch';\nSET 's3.endpoint' = '{world.proxy.address}';\nSET 's3.access-key' = '{KEY}';\nSET 's3.secret-key' = '{SECRET}';\n{sql}"
    return subprocess.run([SLUICE, "run", "-e", text, "--output", "csv"], capture_output=True, text=True, env=world.environment, cwd=world.folder, timeout=60)


def test_foreign_and_half_written_objects_in_a_table(world):
    for form in ("csv", "json", "parquet", "avro", "orc"):
        table = f"foreign_{form}"
        ddl = f"CREATE TABLE t (id BIGINT, k STRING) PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = 's3://lake/{table}', 'format' = '{form}');\n"
        done = run(world, ddl + "INSERT INTO t VALUES (1, 'a'), (2, 'a');")
        expect(done.returncode == 0, done.stderr)
        whole = world.bucket.read(world.bucket.visible(table)[0])
        half = {"csv": b"1\n2,3,4\n", "json": b'{"id":1}\n{"id":'}.get(form, whole[: len(whole) * 2 // 3])
        for name, content in (("notes.txt", b"these are\nmy notes\n"), ("part-half", half)):
            key = f"{table}/k=a/{name}"
            world.bucket.put(key, content)
            done = run(world, ddl + "SELECT id FROM t;")
            expect(done.returncode == 1 and f"s3://lake/{key}" in done.stderr, f"{form}, {name}: exit {done.returncode}, the message must name the object: {done.stderr}")
            done = run(world, ddl + "INSERT INTO t VALUES (9, 'a');")
            expect(done.returncode == 0 and world.bucket.read(key) == content, f"{form}, {name}: INSERT beside a foreign object: {done.stderr}")
            world.bucket.delete(key)
        done = run(world, ddl + "SELECT COUNT(*) FROM t;")
        expect("4" in done.stdout, f"{form}: {done.stdout} {done.stderr}")


def main():
    world = World()

    def run(test):
        world.proxy.clear()
        test(world)

    try:
        return 0 if run_tests(globals(), run) else 1
    finally:
        world.close()


if __name__ == "__main__":
    sys.exit(main())
