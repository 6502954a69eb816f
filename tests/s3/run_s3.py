#!/usr/bin/env python3
# ctest: timeout=600
"""Tables on an object store, end to end: against moto, killed at crash points, and through a proxy that spoils requests.

Tests bear the numbers of the rules of other systems' mistakes that they show. What was written is read back by sluice and, past
it, by pyarrow and plain requests. Usage: run_s3.py [NAME...] runs the tests whose names contain one of the words.
"""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from fault_proxy import Fault, FaultProxy, delay, drop, error_in_200, status, truncate
from store_access import KEY, SECRET, Bucket, request

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
LAUNCHER = str(ROOT / "tools" / "services" / "s3.sh")
DIRECTORY = pathlib.Path(tempfile.mkdtemp(prefix="sluice-s3-"))
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("AWS_", "SLUICE_CRASH"))}
ENVIRONMENT.update(XDG_STATE_HOME=str(DIRECTORY / "state"), TZ="UTC", AWS_EC2_METADATA_DISABLED="true", HOME=str(DIRECTORY))
KEYS = {"s3.access-key": KEY, "s3.secret-key": SECRET}
STORE = os.environ.get("SLUICE_S3_KIND", "moto")
COLUMNS = {
    "csv": "id BIGINT, name STRING, dt STRING",
    "json": "id BIGINT, name STRING, dt STRING",
    "parquet": "id BIGINT, name STRING, dt STRING",
    "raw": "id STRING, dt STRING",
}
FORMS = list(COLUMNS)


class Failure(Exception):
    pass


def expect(condition, text, done=None):
    if not condition:
        if isinstance(done, Run):
            text += f"\nexit {done.code}\n{done.messages[-3000:]}"
        raise Failure(text)


class Run:
    """One process and what it said."""

    def __init__(self, script, options, crash_point=None, environment=None, arguments=()):
        self.out = tempfile.TemporaryFile()
        self.err = tempfile.TemporaryFile()
        settings = dict(ENVIRONMENT, **(environment or {}))
        if crash_point:
            settings["SLUICE_CRASH_POINT"] = crash_point
        command = [SLUICE, "run", str(script), "--output", "json", *arguments]
        for key, value in options.items():
            command += ["-D", f"{key}={value}"]
        self.process = subprocess.Popen(command, stdout=self.out, stderr=self.err, env=settings, stdin=subprocess.DEVNULL)

    def wait(self, seconds=90):
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise Failure(f"no end within {seconds} s\n{self.messages[-3000:]}")
        return self

    def kill(self):
        self.process.kill()
        self.process.wait()

    @property
    def code(self):
        return self.process.returncode

    @property
    def messages(self):
        self.err.seek(0)
        return self.err.read().decode("utf-8", "replace")

    @property
    def rows(self):
        self.out.seek(0)
        return [json.loads(line) for line in self.out.read().decode().splitlines()]


class World:
    """The store, its bucket, and a proxy in front of it."""

    def __init__(self):
        self.name = f"s3-{os.getpid()}"
        self.address = self.launch("start").strip()
        self.bucket = Bucket(self.address, "lake")
        self.proxy = FaultProxy(self.address)
        self.count = 0

    def launch(self, *arguments):
        done = subprocess.run([LAUNCHER, *arguments], env=dict(os.environ, SLUICE_S3_NAME=self.name, SLUICE_S3_KEY=KEY, SLUICE_S3_SECRET=SECRET), capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"s3.sh {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def options(self, through_proxy=False, **more):
        options = {"s3.endpoint": self.proxy.address if through_proxy else self.address, **KEYS}
        options.update({key.replace("__", "-").replace("_", "."): value for key, value in more.items()})
        return options

    def table(self, form="csv"):
        """A name of a table that nobody has used."""
        self.count += 1
        return f"t{self.count}_{form}"

    def start(self, sql, options=None, name=None, **more):
        self.count += 1
        script = DIRECTORY / f"{name or f'script-{self.count}'}.sql"
        script.write_text(sql)
        return Run(script, options or self.options(), **more)

    def run(self, sql, options=None, seconds=90, **more):
        return self.start(sql, options, **more).wait(seconds)

    def good(self, sql, options=None, seconds=90, **more):
        done = self.run(sql, options, seconds, **more)
        expect(done.code == 0, f"failed: {sql[-300:]}", done)
        return done

    def close(self):
        self.proxy.close()
        self.launch("wipe")


def define(table, form, path=None, partitioned=True, more=""):
    return (
        f"CREATE TABLE {table} ({COLUMNS[form]}) {'PARTITIONED BY (dt)' if partitioned else ''} WITH ('connector'='filesystem',"
        f"'path'='{path or f's3://lake/{table}'}','format'='{form}','sink.partition-commit.policy.kind'='success-file'{more});\n"
    )


def batch(sql):
    return "SET 'execution.runtime-mode'='batch';\n" + sql


def insert(form, first, count, keyword="INTO", table="t"):
    rows = []
    for i in range(first, first + count):
        values = f"'{i}', " if form == "raw" else f"{i}, 'n{i}', "
        rows.append(f"({values}'2020-05-{20 + i % 2}')")
    return f"INSERT {keyword} {table} VALUES {', '.join(rows)};\n"


def once(world, table, form, count):
    counts = collections.Counter(int(row) for row in world.bucket.ids(table, form))
    twice = [row for row, times in counts.items() if times > 1]
    expect(not twice, f"{table}: rows that are there more than once: {sorted(twice)[:10]}")
    missing = sorted(set(range(1, count + 1)) - set(counts))
    expect(not missing and len(counts) == count, f"{table}: {len(counts)} of {count} rows; missing {missing[:10]}")


def nothing_left(world, table):
    left = [upload for upload in world.bucket.uploads() if upload[0].startswith(table + "/")]
    expect(not left, f"{table}: unfinished uploads are left: {left}")
    strays = [key for key in world.bucket.keys(table + "/") if key not in world.bucket.visible(table) and not key.endswith("/_SUCCESS") and "/_sluice/" not in key]
    expect(not strays, f"{table}: strays {strays}")


def stream(table, form, rows, per_second, more="", path=None):
    """A stream of ids 1..rows into a table, with checkpoints each second."""
    column = "CAST(id AS STRING)" if form == "raw" else "id, CONCAT('n', CAST(id AS STRING))"
    return (
        "SET 'execution.checkpointing.interval'='1 s';\nSET 'parallelism.default'='2';\n"
        f"CREATE TABLE g (id BIGINT) WITH ('connector'='datagen','fields.id.kind'='sequence','fields.id.start'='1',"
        f"'fields.id.end'='{rows}','rows-per-second'='{per_second}');\n"
        + define(table, form, path=path, more=more)
        + f"INSERT INTO {table} SELECT {column}, CONCAT('2020-05-', CAST(20 + MOD(id, 3) AS STRING)) FROM g;\n"
    )


def resume_to_the_end(world, sql, options, name, seconds=120):
    done = world.run(sql, options, seconds, name=name)
    expect(done.code == 0, f"{name}: the last run failed", done)
    return done


def needs_moto(why):
    def mark(test):
        test.needs_moto = why
        return test

    return mark


# Tests


def test_12_6_batch_round_trip_of_every_format(world):
    for form in FORMS:
        table = world.table(form)
        done = world.good(batch(define(table, form) + insert(form, 1, 10, table=table) + insert(form, 11, 5, table=table)))
        once(world, table, form, 15)
        nothing_left(world, table)
        for day in (20, 21):
            expect(f"{table}/dt=2020-05-{day}/_SUCCESS" in world.bucket.keys(table), f"{table}: no marker", done)
        done = world.good(batch(define(table, form) + f"SELECT id, dt FROM {table};"))
        rows = sorted((int(row["id"]), row["dt"]) for row in done.rows)
        expect(rows == [(i, f"2020-05-{20 + i % 2}") for i in range(1, 16)], f"{table} read back: {rows}", done)


def test_pruning_asks_for_one_partition_only(world):
    table = world.table("parquet")
    world.good(batch(define(table, "parquet") + insert("parquet", 1, 6, table=table)))
    world.proxy.clear()
    query = define(table, "parquet") + f"SELECT id, `file.path` FROM {table} WHERE dt = '2020-05-21';"
    query = query.replace("dt STRING)", "dt STRING, `file.path` STRING NOT NULL METADATA)")
    done = world.good(batch(query), world.options(True))
    expect(sorted(row["id"] for row in done.rows) == [1, 3, 5], f"pruned read: {done.rows}", done)
    expect(all(row["file.path"].startswith(f"/{table}/dt=2020-05-21/part-") for row in done.rows), f"file.path: {done.rows}")
    gets = [path for operation, path, _, _ in world.proxy.log() if operation == "GetObject"]
    expect(len(gets) <= 2 and all("dt%3D2020-05-21" in path for path in gets), f"one request for the splits, one for footer and rows: {gets}")


def test_a_partition_that_a_condition_names_is_not_listed_for(world):
    """Its directory is asked for by name; a key that is a number has many names, and all are listed."""
    table = world.table("json")
    for day in range(30):
        world.bucket.put(f"{table}/dt={day:02}/a.json", json.dumps({"id": day, "name": "n"}).encode() + b"\n")
    for column, condition, by_name in (("dt STRING", "dt IN ('07', '7', '99')", True), ("dt INT", "dt = 7", False)):
        world.proxy.clear()
        query = define(table, "json").replace("dt STRING", column) + f"SELECT id FROM {table} WHERE {condition};"
        done = world.good(batch(query), world.options(True))
        expect([row["id"] for row in done.rows] == [7], f"{condition}: {done.rows}", done)
        listings = [query for _, _, query, _ in world.proxy.log() if "list-type" in query and query.get("max-keys") != ["1"]]
        of_all = [query for query in listings if query["prefix"] == [f"{table}/"]]
        expect(bool(of_all) != by_name, f"{condition}: listings {listings}", done)


def test_18_1_overwrite(world):
    table = world.table()
    world.good(batch(define(table, "csv") + insert("csv", 1, 8, table=table)))
    world.bucket.put(f"{table}/dt=2020-05-20/.kept", b"x")
    # Dynamic: only the partition that gets rows is replaced.
    world.good(batch(define(table, "csv") + f"INSERT OVERWRITE {table} VALUES (2, 'x', '2020-05-20'), (4, 'x', '2020-05-20');"))
    expect(sorted(world.bucket.ids(table, "csv")) == [1, 2, 3, 4, 5, 7], f"after overwrite: {world.bucket.ids(table, 'csv')}")
    expect(f"{table}/dt=2020-05-20/.kept" in world.bucket.keys(table), "a hidden object survives")
    # Static and empty: emptied.
    world.good(batch(define(table, "csv") + f"INSERT OVERWRITE {table} PARTITION (dt='2020-05-21') SELECT * FROM (VALUES (1, 'x')) AS v(a, b) WHERE FALSE;"))
    expect(sorted(world.bucket.ids(table, "csv")) == [2, 4], "a static partition without rows is emptied")


def test_overwrite_killed_at_every_step(world):
    table = world.table("json")
    generation = 0

    def overwrite(crash_point=None, name=None):
        values = ", ".join(f"({generation * 100 + i}, 'x', '2020-05-20')" for i in range(5))
        return world.run(batch(define(table, "json") + f"INSERT OVERWRITE {table} VALUES {values};"), name=name, crash_point=crash_point)

    overwrite()
    for point in ("checkpoint.after_metadata_rename", "sink.before_publish", "store.before_complete", "store.after_complete", "sink.after_publish",
                  "sink.before_exchange", "sink.after_exchange"):
        old, generation = generation, generation + 1
        done = overwrite(point, name=f"overwrite-{point}")
        expect(done.code == -signal.SIGKILL, f"{point} was not reached", done)
        ids = set(world.bucket.ids(table, "json"))
        new_rows, old_rows = ({g * 100 + i for i in range(5)} for g in (generation, old))
        expect(ids in (old_rows, new_rows, old_rows | new_rows), f"killed at {point}: {sorted(ids)}")
        done = overwrite(name=f"overwrite-{point}")
        expect(done.code == 0, f"cannot finish after {point}", done)
        expect(sorted(world.bucket.ids(table, "json")) == sorted(new_rows), f"after {point}: {world.bucket.ids(table, 'json')}")
        nothing_left(world, table)


POINTS = {
    "csv": ["sink.after_persist", "store.before_complete"],
    "json": ["store.after_complete", "checkpoint.after_metadata_rename", "sink.before_partition_commit"],
    "raw": ["sink.before_publish", "checkpoint.before_metadata_rename"],
    "parquet": ["store.after_complete", "sink.after_publish"],
}


def test_1_1_and_12_6_streams_killed_at_crash_points(world):
    """Small tails: everything written before a checkpoint is in it, whatever the size of a part."""
    failures = []

    def one(form):
        try:
            table = world.table(form)
            # Files of json and raw stay open over checkpoints: their tails live in the state.
            more = "" if form in ("csv", "parquet") else ",'sink.rolling-policy.rollover-interval'='3 s','sink.rolling-policy.check-interval'='500 ms'"
            sql = stream(table, form, 160, 16, more)
            kills = 0
            for point in POINTS[form]:
                done = world.run(sql, name=table, crash_point=f"{point}:2")
                kills += done.code == -signal.SIGKILL
                expect(done.code in (-signal.SIGKILL, 0), f"{form} at {point}", done)
                counts = collections.Counter(world.bucket.ids(table, form))
                expect(all(times == 1 for times in counts.values()), f"{form} at {point}: rows twice")
            expect(kills == len(POINTS[form]), f"{form}: only {kills} of {POINTS[form]} were reached")
            resume_to_the_end(world, sql, world.options(), table)
            once(world, table, form, 160)
            nothing_left(world, table)
        except Exception as error:
            failures.append(f"{form}: {error}")

    threads = [threading.Thread(target=one, args=(form,)) for form in FORMS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(not failures, "\n".join(failures))


def big_stream(table, rows, per_second, more=""):
    """Files of several parts: some 1,100 bytes a row."""
    return (
        "SET 'execution.checkpointing.interval'='1 s';\nSET 'parallelism.default'='1';\n"
        f"CREATE TABLE g (id BIGINT, pad STRING) WITH ('connector'='datagen','fields.id.kind'='sequence','fields.id.start'='1',"
        f"'fields.id.end'='{rows}','fields.pad.length'='1100','rows-per-second'='{per_second}');\n"
        f"CREATE TABLE {table} (id BIGINT, pad STRING) WITH ('connector'='filesystem','path'='s3a://lake/{table}','format'='json'{more});\n"
        f"INSERT INTO {table} SELECT id, pad FROM g;\n"
    )


def test_12_1_parts_survive_kills_and_17_3_nothing_is_left(world):
    table = world.table("json")
    sql = big_stream(table, 24000, 6000, ",'sink.rolling-policy.file-size'='12 mb'")
    for point in ("store.after_create_upload", "store.after_upload_part:2", "checkpoint.after_metadata_rename:2", "store.before_complete"):
        done = world.run(sql, name=table, crash_point=point)
        expect(done.code == -signal.SIGKILL, f"{point} was not reached", done)
    resume_to_the_end(world, sql, world.options(), table)
    once(world, table, "json", 24000)
    nothing_left(world, table)
    sizes = [len(world.bucket.read(key)) for key in world.bucket.visible(table)]
    expect(max(sizes) > 10 << 20, f"files of several parts: {sizes}")


def test_12_1_restart_inside_the_process_aborts_nothing(world):
    table = world.table("json")
    sql = big_stream(table, 12000, 4000, ",'sink.rolling-policy.file-size'='9 mb'")
    world.proxy.clear()
    # One request that cannot be retried fails the attempt; the process restarts it.
    world.proxy.add(Fault("UploadPart", status(503, "SlowDown"), times=30, skip=1))
    options = world.options(True)
    options.update({"s3.retry.timeout": "500 ms", "restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "100",
                    "restart-strategy.fixed-delay.delay": "200 ms"})
    done = world.run(sql, options, 120, name=table)
    expect(done.code == 0, "the job did not recover", done)
    once(world, table, "json", 12000)
    nothing_left(world, table)


def test_12_2_completing_twice_is_success(world):
    for action in (drop(do_it=True), error_in_200("InternalError", do_it=True), delay(0.5)):
        table = world.table("json")
        world.proxy.clear()
        fault = world.proxy.add(Fault("CompleteMultipartUpload", action, times=1))
        done = world.run(batch(big_stream(table, 800, 100000)), world.options(True), name=table)
        expect(done.code == 0 and fault.hits == 1, "a completion whose answer was lost", done)
        once(world, table, "json", 800)
        nothing_left(world, table)


def test_12_3_an_aborted_upload_stops_the_job_once_with_all_ids(world):
    table = world.table("json")
    sql = big_stream(table, 60000, 6000, ",'sink.rolling-policy.file-size'='1 gb'")
    job = world.start(sql, name=table)
    deadline = time.time() + 40
    mine = []
    while not mine and time.time() < deadline:
        time.sleep(0.5)
        mine = [upload for upload in world.bucket.uploads() if upload[0].startswith(table + "/")]
    time.sleep(2.5)  # A checkpoint names it.
    job.kill()
    expect(mine, "no upload was begun", job)
    for key, upload_id in mine:
        world.bucket.abort(key, upload_id)
    begin = time.time()
    done = world.run(sql, name=table, seconds=60)
    expect(done.code == 1 and time.time() - begin < 30, "resumed without its upload", done)
    for word in (mine[0][0], mine[0][1], "data is missing", "upload"):
        expect(word in done.messages, f"the message lacks {word}", done)


def test_12_5_a_store_that_refuses_for_a_while(world):
    """503 for several seconds: no failure, no restart, rows once."""
    table = world.table("json")
    world.proxy.clear()
    world.proxy.add(Fault("UploadPart", status(503, "SlowDown"), until=time.time() + 8))
    world.proxy.add(Fault("PutObject", status(500, "InternalError"), times=3))
    options = world.options(True)
    options["restart-strategy.type"] = "none"
    done = world.run(big_stream(table, 12000, 6000, ",'sink.rolling-policy.file-size'='7 mb'"), options, name=table)
    expect(done.code == 0 and "Trying again" in done.messages, "the store came back", done)
    expect("requests to the store sent again" in done.messages, "the counter of retries", done)
    once(world, table, "json", 12000)
    nothing_left(world, table)


def test_12_8_nothing_is_staged_on_disks(world):
    """There is no staging place of uploads that could be lost: files above a part's size are uploaded where TMPDIR is none. (Rows that wait sorted have one.)"""
    table = world.table("json")
    sql = batch("CREATE TABLE g (id BIGINT, s STRING) WITH ('connector'='datagen','fields.id.kind'='sequence','fields.id.start'='1','fields.id.end'='60000',"
                "'number-of-rows'='60000','rows-per-second'='10000000','fields.s.length'='200');\n" + define(table, "json", more=",'sink.sort-by-partition'='false'") + f"INSERT INTO {table} SELECT id, s, 'x' FROM g;\n")
    world.proxy.clear()
    world.good(sql, world.options(True), environment={"TMPDIR": "/nonexistent"})
    expect("UploadPart" in world.proxy.operations(), "large files go in parts")
    once(world, table, "json", 60000)
    nothing_left(world, table)


def test_faults_of_every_kind(world):
    table = world.table("parquet")
    world.proxy.clear()
    for operation in ("PutObject", "CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload", "ListObjectsV2", "GetObject", "HeadObject"):
        for action in (drop(), status(500, "InternalError"), status(429, "TooManyRequests"), delay(0.2)):
            world.proxy.add(Fault(operation, action, times=1))
    for operation in ("GetObject", "ListObjectsV2"):
        world.proxy.add(Fault(operation, truncate, times=2))
    world.proxy.add(Fault("PutObject", drop(do_it=True), times=1))
    options = world.options(True)
    world.good(batch(define(table, "parquet") + insert("parquet", 1, 20, table=table)), options)
    once(world, table, "parquet", 20)
    done = world.good(batch(define(table, "parquet") + f"SELECT id FROM {table};"), options)
    expect(sorted(row["id"] for row in done.rows) == list(range(1, 21)), f"read through faults: {len(done.rows)} rows", done)


def test_17_4_messages(world):
    sql = batch(define("m", "csv", path="s3://lake/messages/m") + insert("csv", 1, 2, table="m"))
    cases = [
        (403, "InvalidAccessKeyId", ["InvalidAccessKeyId", "AKIDSLUICE", "'s3.access-key'"]),
        (403, "SignatureDoesNotMatch", ["SignatureDoesNotMatch", "403", "lake", "AKIDSLUICE"]),
        (400, "ExpiredToken", ["ExpiredToken", "have expired"]),
        (403, "RequestTimeTooSkewed", ["RequestTimeTooSkewed", "machine's clock"]),
        (403, "AccessDenied", ["AccessDenied", "Grant this access key"]),
    ]
    for code, name, words in cases:
        world.proxy.clear()
        world.proxy.add(Fault("*", status(code, name)))
        done = world.run(sql, world.options(True), 30)
        expect(done.code == 1, f"{name} is an error", done)
        for word in [*words, "s3://lake/messages", world.proxy.address]:
            expect(word in done.messages, f"{name}: the message lacks {word}", done)
        expect("not-to-be-shown" not in done.messages, f"{name}: the secret is shown", done)
    world.proxy.clear()
    done = world.run(sql.replace("s3://lake", "s3://nosuchbucket"), seconds=30)
    expect(done.code == 1 and "NoSuchBucket" in done.messages and "Create the bucket 'nosuchbucket'" in done.messages, "a missing bucket", done)
    done = world.run(sql, dict(world.options(), **{"s3.endpoint": "http://127.0.0.1:1", "s3.retry.timeout": "1 s"}), 30)
    expect(done.code == 1 and "http://127.0.0.1:1 cannot be reached" in done.messages and "'s3.endpoint'" in done.messages, "nobody there", done)
    done = world.run(sql, {"s3.endpoint": world.address}, 30)
    expect(done.code == 1 and "No access key for s3://lake" in done.messages and "AWS_ACCESS_KEY_ID" in done.messages, "no keys", done)
    done = world.run(sql, world.options(s3_acess__key="x"), 30)
    expect(done.code == 1 and "Did you mean 's3.access-key'" in done.messages, "a slip of the pen", done)
    done = world.run(define("m", "csv", path="gs://lake/m"), seconds=30)
    expect(done.code == 1 and "Known schemes: file, s3, s3a, oss, hdfs" in done.messages, "an unknown scheme lists the known ones", done)
    read = batch(define("m", "csv", path="s3://lake/nothing", partitioned=False) + "SELECT * FROM m;")
    done = world.run(read, seconds=30)
    expect(done.code == 1 and "s3://lake/nothing" in done.messages, "a table that is not there", done)


@needs_moto("any key will do")
def test_keys_from_environment_profile_and_table(world):
    table = world.table()
    sql = batch(define(table, "csv") + insert("csv", 1, 2, table=table))
    environment = {"AWS_ENDPOINT_URL": world.proxy.address, "AWS_ACCESS_KEY_ID": "FROMENV", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "tok"}
    (DIRECTORY / ".aws").mkdir(exist_ok=True)
    (DIRECTORY / ".aws" / "credentials").write_text("[work]\naws_access_key_id = FROMFILE\naws_secret_access_key = s\n")

    def used():
        return {headers["Authorization"].split("Credential=")[1].split("/")[0] for _, _, _, headers in world.proxy.log()}

    world.proxy.clear()
    done = world.run(sql, {"s3.region": "us-east-1"}, environment=environment)
    expect(done.code == 0 and used() == {"FROMENV"}, f"environment: {used()}", done)
    expect(all(headers.get("x-amz-security-token") == "tok" for _, _, _, headers in world.proxy.log()), "the session token is sent")
    world.proxy.clear()
    done = world.run(sql, {"s3.endpoint": world.proxy.address}, environment={"AWS_PROFILE": "work"})
    expect(done.code == 0 and used() == {"FROMFILE"}, f"profile file: {used()}", done)
    world.proxy.clear()
    done = world.run(sql, {"fs.s3a.endpoint": world.proxy.address, "fs.s3a.access.key": "GENERAL", "fs.s3a.secret.key": "s",
                           "fs.s3a.bucket.lake.access.key": "OFBUCKET", "fs.s3a.bucket.lake.secret.key": "s"})
    expect(done.code == 0 and used() == {"OFBUCKET"}, f"keys of a bucket: {used()}", done)
    world.proxy.clear()
    own = f",'s3.endpoint'='{world.proxy.address}','s3.access-key'='OFTABLE','s3.secret-key'='s'"
    done = world.run(batch(define(table, "csv", more=own) + insert("csv", 3, 2, table=table)), {"s3.region": "us-east-1"})
    expect(done.code == 0 and used() == {"OFTABLE"}, f"options of the table: {used()}", done)
    expect(sorted(world.bucket.ids(table, "csv")) == [1, 1, 1, 2, 2, 2, 3, 4], "all four have written")


@needs_moto("any key will do")
def test_oss_is_the_same_store(world):
    options = {"fs.oss.endpoint": world.proxy.address, "fs.oss.accessKeyId": "OSSKEY", "fs.oss.accessKeySecret": "s"}
    table = world.table("json")
    world.proxy.clear()
    world.good(batch(define(table, "json", path=f"oss://lake/{table}") + insert("json", 1, 4, table=table)), options)
    once(world, table, "json", 4)
    headers = [entry[3] for entry in world.proxy.log() if entry[0] == "PutObject" and "part-" in entry[1]]
    expect(headers and all(header.get("x-oss-forbid-overwrite") == "true" for header in headers), "a published name is not overwritten")
    done = world.good(batch(define(table, "json", path=f"oss://lake/{table}") + f"SELECT id FROM {table};"), options)
    expect(sorted(row["id"] for row in done.rows) == [1, 2, 3, 4], "read back", done)


def test_6_4_watched_directories(world):
    source, sink = world.table("json"), world.table("json")
    sql = (
        "SET 'execution.checkpointing.interval'='500 ms';\n"
        + define(source, "json", more=",'source.monitor-interval'='500 ms'")
        + define(sink, "json", partitioned=False)
        + f"INSERT INTO {sink} SELECT id, name, dt FROM {source};\n"
    ).replace("'sink.partition-commit.policy.kind'='success-file'", "'sink.rolling-policy.rollover-interval'='500 ms','sink.rolling-policy.check-interval'='200 ms'")
    job = world.start(sql, name=sink)
    for i, (day, name) in enumerate((("2024-01-03", "a"), ("2024-01-01", "b"), ("2024-01-03", "0")), 1):
        time.sleep(1.5)
        world.bucket.put(f"{source}/dt={day}/{name}.json", json.dumps({"id": i, "name": name}).encode() + b"\n")
        world.bucket.put(f"{source}/dt={day}/.{name}.json", b'{"id":99}\n')
        if i == 2:
            job.kill()
            job = world.start(sql, name=sink)
    deadline = time.time() + 40
    while len(world.bucket.ids(sink, "json")) < 3 and time.time() < deadline:
        time.sleep(0.5)
    job.process.send_signal(signal.SIGTERM)
    job.wait(30)
    expect(job.code == 0, "ends by SIGTERM", job)
    once(world, sink, "json", 3)


def test_a_cursor_lists_the_last_directories_only(world):
    """Forty directories are there; an interval asks for what lies behind the last two, and a late file in an old one is read all the same."""
    source, sink = world.table("json"), world.table("json")
    for day in range(40):
        for name in ("a", "b"):
            world.bucket.put(f"{source}/dt=d{day:02}/{name}.json", json.dumps({"id": 1 + 2 * day + (name == "b"), "name": "n"}).encode() + b"\n")
    sql = (
        "SET 'execution.checkpointing.interval'='500 ms';\n"
        + define(source, "json", more=",'source.monitor-interval'='300 ms','source.listing.cursor'='directory','source.watch.listing-interval'='6 s'")
        + define(sink, "json", partitioned=False)
        + f"INSERT INTO {sink} SELECT id, name, dt FROM {source};\n"
    ).replace("'sink.partition-commit.policy.kind'='success-file'", "'sink.rolling-policy.on-checkpoint'='true'")
    world.proxy.clear()
    job = world.start(sql, world.options(True), name=sink)

    def wait_for(count, seconds=30):
        deadline = time.time() + seconds
        while len(world.bucket.ids(sink, "json")) < count and time.time() < deadline:
            time.sleep(0.1)
        expect(len(world.bucket.ids(sink, "json")) == count, f"{len(world.bucket.ids(sink, 'json'))} of {count} rows are read", job)

    wait_for(80)
    world.bucket.put(f"{source}/dt=d40/a.json", b'{"id":81,"name":"new directory"}\n')
    wait_for(81)
    world.bucket.put(f"{source}/dt=d39/0.json", b'{"id":82,"name":"before the last ones of its directory"}\n')
    wait_for(82)
    cursors = [query["start-after"][0] for _, _, query, _ in world.proxy.log() if "start-after" in query]
    expect(cursors and all("/dt=d" in cursor for cursor in cursors), f"listings behind a cursor: {cursors[:3]} of {world.proxy.operations()[:20]}", job)
    world.bucket.put(f"{source}/dt=d01/late.json", b'{"id":83,"name":"in an old directory"}\n')
    wait_for(83)
    job.process.send_signal(signal.SIGTERM)
    job.wait(30)
    expect(job.code == 0, "ends by SIGTERM", job)
    once(world, sink, "json", 83)


def test_objects_that_are_read_are_moved(world):
    for action in ("move", "delete"):
        source, sink = world.table("json"), world.table("json")
        more = f",'source.monitor-interval'='300 ms','source.file.when-done'='{action}'"
        if action == "move":
            more += f",'source.file.move-to'='s3://lake/{source}-done'"
        sql = (
            "SET 'execution.checkpointing.interval'='400 ms';\n" + define(source, "json", more=more) + define(sink, "json", partitioned=False)
            + f"INSERT INTO {sink} SELECT id, name, dt FROM {source};\n"
        ).replace("'sink.partition-commit.policy.kind'='success-file'", "'sink.rolling-policy.on-checkpoint'='true'")
        for number in range(1, 5):
            world.bucket.put(f"{source}/dt=d{number % 2}/f{number}.json", json.dumps({"id": number, "name": "n"}).encode() + b"\n")
        done = world.run(sql, name=sink, crash_point="source.between_done")
        expect(done.code == -signal.SIGKILL, "killed between the checkpoint and the move", done)
        world.bucket.put(f"{source}/dt=d1/f5.json", b'{"id":5,"name":"n"}\n')
        job = world.start(sql, name=sink)
        deadline = time.time() + 30
        while time.time() < deadline and [key for key in world.bucket.keys(source + "/") if key.endswith(".json")]:
            time.sleep(0.2)
        job.process.send_signal(signal.SIGTERM)
        job.wait(30)
        expect(job.code == 0, "ends by SIGTERM", job)
        once(world, sink, "json", 5)
        left = [key for key in world.bucket.keys(source + "/") if key.endswith(".json")]
        expect(not left, f"{action}: {left} were left", job)
        moved = sorted(key.split("/", 1)[1] for key in world.bucket.keys(f"{source}-done/") if key.endswith(".json"))
        expect(moved == (sorted(f"dt=d{n % 2}/f{n}.json" for n in range(1, 6)) if action == "move" else []), f"{action}: moved are {moved}")


def test_15_1_many_partitions_in_little_memory(world):
    table = world.table("parquet")
    sql = (
        "SET 'sluice.memory.limit'='64 mb';\nSET 'execution.runtime-mode'='batch';\n"
        "CREATE TABLE g (id BIGINT) WITH ('connector'='datagen','fields.id.kind'='sequence','fields.id.start'='1','fields.id.end'='30000',"
        "'number-of-rows'='30000','rows-per-second'='1000000');\n"
        + define(table, "parquet")
        + f"INSERT INTO {table} SELECT id, 'x', CAST(MOD(id, 60) AS STRING) FROM g;\n"
    )
    world.good(sql, seconds=120)
    once(world, table, "parquet", 30000)
    nothing_left(world, table)


@needs_moto("a token service")
def test_12_7_many_short_runs_with_an_assumed_role(world):
    """Keys that the token service hands out; each process ends with the exit code that tells the truth."""
    world.proxy.clear()
    options = world.options(True)
    options.update({"s3.assumed.role.arn": "arn:aws:iam::123456789012:role/lake", "s3.assumed.role.sts.endpoint": world.address})
    table = world.table()
    for i in range(10):
        world.good(batch(define(table, "csv") + f"INSERT INTO {table} VALUES ({i + 1}, 'x', 'a');\n"), options, 30)
    once(world, table, "csv", 10)
    headers = [entry[3] for entry in world.proxy.log()]
    expect(all(header.get("x-amz-security-token") for header in headers), "the role's keys are used")
    expect(not any("AKIDSLUICE" in header["Authorization"] for header in headers), "not those that asked for the role")


def test_17_2_a_stop_does_not_wait_for_a_store_that_is_away(world):
    table = world.table("json")
    world.proxy.clear()
    job = world.start(big_stream(table, 600000, 3000, ",'sink.rolling-policy.file-size'='1 gb'"), world.options(True), name=table)
    deadline = time.time() + 30
    while "UploadPart" not in world.proxy.operations() and time.time() < deadline:
        time.sleep(0.2)
    world.proxy.add(Fault("*", status(503, "SlowDown")))
    time.sleep(1)
    begin = time.time()
    job.process.send_signal(signal.SIGTERM)
    job.wait(40)
    expect(time.time() - begin < 25, f"ended after {time.time() - begin:.1f} s", job)
    # Nothing that a checkpoint had is lost: the same command goes on.
    world.proxy.clear()
    job = world.start(big_stream(table, 600000, 3000, ",'sink.rolling-policy.file-size'='1 gb'"), world.options(True), name=table)
    time.sleep(3)
    job.process.send_signal(signal.SIGTERM)
    job.wait(40)
    expect(job.code == 0, "stops in good order", job)
    counts = collections.Counter(world.bucket.ids(table, "json"))
    expect(counts and max(counts.values()) == 1 and len(counts) == max(counts), f"{len(counts)} rows without a gap up to {max(counts)}", job)
    nothing_left(world, table)


@needs_moto("users and rights of its own")
def test_12_4_and_signatures_as_another_implementation_sees_them(world):
    """With rights checked, moto computes each signature by botocore; keys come from an assumed role too."""
    name = world.name + "-auth"
    environment = dict(os.environ, SLUICE_S3_NAME=name, SLUICE_S3_AUTH="5", SLUICE_S3_KIND="moto")

    def launch(*arguments):
        return subprocess.run([LAUNCHER, *arguments], env=environment, capture_output=True, text=True, check=True).stdout

    address = launch("start").strip()
    try:
        def iam(**form):
            data = "&".join(f"{key}={value}" for key, value in dict(form, Version="2010-05-08").items()).encode()
            header = {"Authorization": "AWS4-HMAC-SHA256 Credential=x/20200101/us-east-1/iam/aws4_request, SignedHeaders=host, Signature=x",
                      "Content-Type": "application/x-www-form-urlencoded"}
            import urllib.request

            with urllib.request.urlopen(urllib.request.Request(address + "/", data=data, headers=header)) as response:
                return response.read().decode()

        everything = "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%7B%22Effect%22%3A%22Allow%22%2C%22Action%22%3A%22*%22%2C%22Resource%22%3A%22*%22%7D%5D%7D"
        iam(Action="CreateUser", UserName="sluice")
        iam(Action="PutUserPolicy", UserName="sluice", PolicyName="all", PolicyDocument=everything)
        keys = iam(Action="CreateAccessKey", UserName="sluice")
        key = keys.split("<AccessKeyId>")[1].split("<")[0]
        secret = keys.split("<SecretAccessKey>")[1].split("<")[0].replace("&amp;", "&")
        request(f"{address}/lake", "PUT")
        request(f"{address}/lake")
        options = {"s3.endpoint": address, "s3.access-key": key, "s3.secret-key": secret}
        sql = batch(define("signed", "csv", path="s3://lake/a b+c/ü=1/signed") + "INSERT INTO signed VALUES (1, 'x', '50%'), (2, 'y', 'a/b=c');\nSELECT id, dt FROM signed;\n")
        done = world.run(sql, options)
        expect(done.code == 0 and sorted((row["id"], row["dt"]) for row in done.rows) == [(1, "50%"), (2, "a/b=c")], "signed requests", done)
        done = world.run(sql, dict(options, **{"s3.secret-key": "wrong"}), 40)
        expect(done.code == 1 and "SignatureDoesNotMatch" in done.messages and key in done.messages and "lake" in done.messages, "a wrong secret (17.4)", done)
        done = world.run(sql, dict(options, **{"s3.access-key": "AKIAUNKNOWN000000000"}), 40)
        expect(done.code == 1 and "InvalidAccessKeyId" in done.messages, "a wrong key", done)
    finally:
        launch("wipe")


def test_clean_table_removes_uploads_that_nobody_needs(world):
    table = world.table("json")
    sql = big_stream(table, 24000, 6000, ",'sink.rolling-policy.file-size'='12 mb'")
    only = "\n".join(line for line in sql.splitlines() if line.startswith(f"CREATE TABLE {table} ")) + "\n"

    def clean(words):
        return world.good(only + f"CLEAN TABLE {table} {words};").rows

    def uploads():
        return [upload for upload in world.bucket.uploads() if upload[0].startswith(table + "/")]

    done = world.run(sql, name=table, crash_point="store.after_upload_part")
    expect(done.code == -signal.SIGKILL and uploads(), "an upload is left", done)
    # moto says of every upload that it was begun in 2010: the age is shown by the tests of files.
    rows = clean("OLDER THAN '36500 d'")
    expect(rows and all(row["kind"] == "upload" and row["action"] == "kept" for row in rows), f"a young upload stays: {rows}")
    expect(any(int(row["bytes"]) >= 5 << 20 for row in rows), f"its parts are counted: {rows}")
    rows = clean("OLDER THAN '0 s' DRY RUN")
    expect(uploads() and all(row["action"] == "would be removed" for row in rows), f"dry: {rows}")
    # An upload that a checkpoint names stays, and the job goes on with it.
    done = world.run(sql, name=table, crash_point="checkpoint.after_metadata_rename:2")
    expect(done.code == -signal.SIGKILL, "the second kill", done)
    named = [row for row in clean("OLDER THAN '0 s'") if "named by" in row["why"]]
    expect(named and all(row["action"] == "kept" for row in named), f"what the checkpoint names: {named}")
    resume_to_the_end(world, sql, world.options(), table)
    once(world, table, "json", 24000)
    nothing_left(world, table)
    # Of a job that is never started again.
    other = world.table("json")
    done = world.run(big_stream(other, 24000, 6000), name=other, crash_point="store.after_upload_part")
    expect(done.code == -signal.SIGKILL, "a third kill", done)
    only = f"CREATE TABLE {other} (id BIGINT, pad STRING) WITH ('connector'='filesystem','path'='s3a://lake/{other}','format'='json');\n"
    rows = world.good(only + f"CLEAN TABLE {other} OLDER THAN '0 s';").rows
    expect(rows and all(row["action"] == "removed" for row in rows), f"removed: {rows}")
    nothing_left(world, other)


def test_a_superseded_process_cannot_publish(world):
    """It stands still, loses its lock, wakes up after another one has taken the job: nothing is there twice."""
    failures = []

    def one(form, point):
        try:
            table = world.table(form)
            more = ",'sink.record.enabled'='true'" + ("" if form in ("csv", "parquet") else ",'sink.rolling-policy.rollover-interval'='3 s','sink.rolling-policy.check-interval'='500 ms'")
            sql = stream(table, form, 240, 16, more)
            old = world.start(sql, name=table, environment={"SLUICE_STOP_POINT": point})
            deadline = time.time() + 30
            while not is_stopped(old.process.pid):
                expect(time.time() < deadline and old.process.poll() is None, f"{form}: {point} was not reached", old)
                time.sleep(0.05)
            refused = world.run(sql, name=table)
            expect(refused.code == 1 and f"in use by process {old.process.pid}" in refused.messages, f"{form}: the lock", refused)
            for lock in DIRECTORY.glob("state/sluice/*/lock"):
                if lock.read_text().strip() == str(old.process.pid):
                    lock.unlink()
            new = world.start(sql, name=table)
            time.sleep(5)
            os.kill(old.process.pid, signal.SIGCONT)
            old.wait(60)
            expect(old.code == 1 and "superseded" in old.messages, f"{form} at {point}: the old one ends", old)
            new.wait(90)
            expect(new.code == 0 and "may still be alive" in new.messages, f"{form} at {point}: the new one goes on", new)
            once(world, table, form, 240)
            nothing_left(world, table)
            verify = subprocess.run([SLUICE, "verify", f"s3://lake/{table}", "-o", "json"] + [f"-D{key}={value}" for key, value in world.options().items()], capture_output=True, text=True, env=ENVIRONMENT)
            expect(verify.returncode == 0 and json.loads(verify.stdout.splitlines()[-1])["recorded_rows"] == 240, f"{form}: verify {verify.stdout} {verify.stderr}")
        except Exception as error:
            failures.append(f"{form} at {point}: {error}")

    cases = [("csv", "store.before_complete:2"), ("json", "checkpoint.after_metadata_rename:3"), ("parquet", "checkpoint.before_metadata_rename:3"), ("raw", "sink.before_publish:2")]
    threads = [threading.Thread(target=one, args=case) for case in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect(not failures, "\n".join(failures))


def is_stopped(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"


def test_compact_table_by_a_journal(world):
    table = world.table("csv")
    define_it = define(table, "csv", more=",'compaction.switch'='journal'")
    for i in range(4):
        world.good(batch(define(table, "csv") + insert("csv", 1 + 10 * i, 10, table=table)))
    refused = world.run(define(table, "csv") + f"COMPACT TABLE {table};")
    expect(refused.code == 1 and "compaction.switch" in refused.messages and "^" in refused.messages, "refused without the option", refused)

    def count():
        rows = world.good(batch(define(table, "csv") + f"SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS d FROM {table};")).rows
        return [(row["n"], row["d"]) for row in rows]

    for point in ("store.before_journal", "store.after_journal", "store.before_complete", "store.after_complete", "store.after_switch", "store.after_removal"):
        done = world.run(define_it + f"COMPACT TABLE {table} PARTITION (dt = '2020-05-20');", crash_point=point)
        expect(done.code == -signal.SIGKILL, f"{point} was not reached", done)
        expect(count() == [(40, 40)], f"readers of sluice after a kill at {point}: {count()}")
        foreign = collections.Counter(int(row) for row in world.bucket.ids(table, "csv"))
        expect(set(foreign) == set(range(1, 41)) and max(foreign.values()) <= 2, f"others see all rows, some perhaps twice, after {point}")
        done = world.good(define_it + f"COMPACT TABLE {table} PARTITION (dt = '2020-05-20');")
        once(world, table, "csv", 40)
        nothing_left(world, table)
        expect(count() == [(40, 40)], f"after the repetition behind {point}")
        # Small files again for the next point.
        values = [f"({i}, 'n{i}', '2020-05-20')" for i in range(2, 41, 2)]
        world.good(batch(define(table, "csv") + f"INSERT OVERWRITE {table} VALUES {', '.join(values[:4])};\n" + "".join(f"INSERT INTO {table} VALUES {', '.join(values[i : i + 4])};\n" for i in range(4, 20, 4))))
    # A reader that reads all the while.
    wrong = []
    going = True

    def read():
        while going:
            done = world.run(batch(define(table, "csv") + f"SELECT COUNT(*) AS n FROM {table};"))
            # A file may be gone between listing and reading: an error, never other rows.
            if done.code == 0 and [row["n"] for row in done.rows] != [40]:
                wrong.append(done.rows)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    rows = world.good(define_it + f"COMPACT TABLE {table};").rows
    going = False
    for reader in readers:
        reader.join()
    expect(not wrong, f"a reader saw {wrong[:3]}")
    expect([row["files after"] for row in rows] == ["1", "1"] and len(world.bucket.visible(table)) == 2, f"merged: {rows}")
    once(world, table, "csv", 40)


def main():
    words = sys.argv[1:]
    tests = [(name, test) for name, test in globals().items() if name.startswith("test_") and (not words or any(word in name for word in words))]
    world = World()
    failed = 0
    try:
        for name, test in tests:
            begin = time.time()
            why = getattr(test, "needs_moto", None)
            if why and STORE != "moto":
                print(f"left out {name}: needs {why}", flush=True)
                continue
            try:
                world.proxy.clear()
                test(world)
                print(f"ok      {name} ({time.time() - begin:.1f} s)", flush=True)
            except (Failure, AssertionError, subprocess.CalledProcessError) as error:
                failed += 1
                print(f"FAILED  {name} ({time.time() - begin:.1f} s): {error}", flush=True)
    finally:
        world.close()
        if not failed:
            shutil.rmtree(DIRECTORY, ignore_errors=True)
    left_out = sum(STORE != "moto" and hasattr(test, "needs_moto") for _, test in tests)
    print(f"{len(tests) - failed - left_out} of {len(tests) - left_out} passed" + (f"; files are in {DIRECTORY}" if failed else ""))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
