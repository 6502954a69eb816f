#!/usr/bin/env python3
# ctest: timeout=900 serial
"""Reads from a broker of Kafka itself with both ways of fetching; see README.md.

Usage: run_kafka_fetch.py [--only CASE] [--keep]
"""
import argparse
import glob
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import transactions

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
KAFKA = str(ROOT / "tools" / "services" / "kafka.sh")
FETCH_TEST = ROOT / "build" / "tests" / "sluice_connectors_kafka_fetch_test"
FETCHES = ("native", "librdkafka")


class Failure(Exception):
    pass


class Broker:
    """Secure listeners beside the plain one; compaction at once."""

    def __init__(self, directory):
        properties = directory / "server.properties"
        properties.write_text("log.cleaner.backoff.ms=200\nlog.cleaner.min.compaction.lag.ms=0\n")
        self.environment = dict(os.environ, SLUICE_KAFKA_NAME=f"fetch{os.getpid()}", SLUICE_KAFKA_SECURE="1", SLUICE_KAFKA_PROPERTIES=str(properties))
        self.address = self.run("start").strip()
        self.secure = dict(line.split("=", 1) for line in self.run("secure").split())

    def run(self, *arguments, data=None):
        result = subprocess.run([KAFKA, *arguments], env=self.environment, input=data, text=True, capture_output=True)
        if result.returncode != 0:
            raise Failure(f"kafka.sh {' '.join(arguments)}: {result.stderr}")
        return result.stdout

    def topics(self, *arguments):
        self.run("tool", "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", self.address, *arguments)

    def produce(self, topic, ids, *arguments):
        self.run("produce", topic, "--", *arguments, data="".join(f'{{"id":{i}}}\n' for i in ids))


def with_options(topic, address, fetch, more=None):
    options = {"connector": "kafka", "topic": topic, "properties.bootstrap.servers": address, "scan.startup.mode": "earliest-offset",
               "scan.fetch.implementation": fetch, "format": "json", **(more or {})}
    return ", ".join(f"'{key}' = '{value}'" for key, value in options.items())


def read(directory, topic, address, fetch, more=None, columns="id BIGINT", select="id"):
    """(exit code, rows as tuples, stderr) of a bounded read."""
    more = {"scan.bounded.mode": "latest-offset", **(more or {})}
    sql = f"CREATE TABLE t ({columns}) WITH ({with_options(topic, address, fetch, more)});\nSELECT {select} FROM t;"
    result = subprocess.run([SLUICE, "run", "-e", sql, "-D", "execution.runtime-mode=batch", "--output", "json"], text=True, capture_output=True,
                            env=dict(os.environ, XDG_STATE_HOME=str(directory / "state"), TZ="UTC"), timeout=60)
    rows = [json.loads(line) for line in result.stdout.splitlines() if line.startswith("{")]
    return result.returncode, [tuple(row.values()) for row in rows], result.stderr


def expect(rows, wanted, what):
    rows, wanted = sorted(rows), sorted(wanted)
    if rows != wanted:
        raise Failure(f"{what}: {len(rows)} rows instead of {len(wanted)}; begins with {rows[:5]}, wanted {wanted[:5]}")


def read_ids(directory, topic, address, fetch, wanted, what, more=None):
    code, rows, text = read(directory, topic, address, fetch, more)
    if code != 0:
        raise Failure(f"{what}: exit {code}\n{text}")
    expect([row[0] for row in rows], wanted, what)


def case_codecs(broker, directory):
    """Written by Java's producer: its snappy and lz4 frames are its own."""
    broker.run("topic", "codecs", "1")
    count = 0
    for codec in ("none", "gzip", "snappy", "lz4", "zstd"):
        lines = "".join(f'{{"id":{i}}}\n' for i in range(count, count + 2000))
        count += 2000
        broker.run("tool", "org.apache.kafka.tools.ConsoleProducer", "--bootstrap-server", broker.address, "--topic", "codecs",
                   f"--compression-codec={codec}", data=lines)
    for fetch in FETCHES:
        read_ids(directory, "codecs", broker.address, fetch, range(count), f"codecs, {fetch}")
        _, rows, text = read(directory, "codecs", broker.address, fetch,
                             columns="id BIGINT, o BIGINT METADATA FROM 'offset', e INT METADATA FROM 'leader-epoch', k STRING METADATA FROM 'timestamp-type'",
                             select="COUNT(*), SUM(CASE WHEN id = o THEN 1 ELSE 0 END), COUNT(e), MIN(k)")
        expect(rows, [(count, count, count if fetch == "native" else 0, "CreateTime")], f"metadata, {fetch} {text}")


def case_transactions(broker, directory):
    # rule 14.5: a log that ends with control records is read to its end.
    broker.run("topic", "transactions", "2")
    producers = [transactions.Producer(broker.address, f"t{i}") for i in range(2)]
    committed, aborted = [], []
    for i in range(12):
        ids = list(range(i * 10, i * 10 + 10))
        commit = i % 3 != 1
        (committed if commit else aborted).extend(ids)
        producers[i // 2 % 2].transaction("transactions", i % 2, [f'{{"id":{one}}}' for one in ids], commit)
    broker.produce("transactions", range(1000, 1010), "-p", "0")
    committed += range(1000, 1010)
    producers[0].transaction("transactions", 1, ['{"id":5000}'], False)  # The log ends with an aborted one.
    aborted.append(5000)
    for fetch in FETCHES:
        read_ids(directory, "transactions", broker.address, fetch, committed, f"read_committed, {fetch}", {"properties.isolation.level": "read_committed"})
        read_ids(directory, "transactions", broker.address, fetch, committed + aborted, f"read_uncommitted, {fetch}")
    for producer in producers:
        producer.close()


def case_compacted(broker, directory):
    """Offsets with gaps: of four thousand records with ten keys few are left."""
    broker.topics("--create", "--topic", "compacted", "--partitions", "1", "--replication-factor", "1", "--config", "cleanup.policy=compact",
                  "--config", "segment.ms=300", "--config", "min.cleanable.dirty.ratio=0.01", "--config", "delete.retention.ms=0")
    for chunk in range(4):
        broker.run("produce", "compacted", "--", "-K", "\t", data="".join(f'k{i % 10}\t{{"id":{chunk * 1000 + i}}}\n' for i in range(1000)))
        time.sleep(0.5)
    broker.run("produce", "compacted", "--", "-K", "\t", data='last\t{"id":4000}\n')
    deadline = time.time() + 40
    while True:
        code, rows, text = read(directory, "compacted", broker.address, "librdkafka")
        if code == 0 and len(rows) < 3000:
            break
        if time.time() > deadline:
            raise Failure(f"the topic was not compacted: {len(rows)} rows {text}")
        time.sleep(1)
    time.sleep(1.5)  # Let the cleaner end: both reads must see the same log.
    columns = {"columns": "id BIGINT, o BIGINT METADATA FROM 'offset'", "select": "id, o"}
    _, before, _ = read(directory, "compacted", broker.address, "librdkafka", **columns)
    for fetch in FETCHES:
        _, rows, text = read(directory, "compacted", broker.address, fetch, **columns)
        expect(rows, before, f"compacted, {fetch} {text}")
        if any(one != offset for one, offset in rows):
            raise Failure(f"compacted, {fetch}: wrong offsets")


def case_security(broker, directory):
    broker.run("topic", "secure", "1")
    broker.produce("secure", range(500))
    tls = broker.secure["tls"]
    trust = {"properties.ssl.truststore.type": "PEM", "properties.ssl.truststore.location": f"{tls}/ca.pem"}
    key = {"properties.ssl.keystore.type": "PEM", "properties.ssl.keystore.location": f"{tls}/client.pem"}

    def login(mechanism, password="alice-secret"):
        module = "plain.PlainLoginModule" if mechanism == "PLAIN" else "scram.ScramLoginModule"
        return {"properties.sasl.mechanism": mechanism,
                "properties.sasl.jaas.config": f'org.apache.kafka.common.security.{module} required username="alice" password="{password}";'}

    cases = [("ssl", "SSL", {**trust, **key}), ("sasl_plaintext", "SASL_PLAINTEXT", login("PLAIN")),
             ("sasl_ssl", "SASL_SSL", {**trust, **login("PLAIN")})]
    for fetch in FETCHES:
        for listener, protocol, more in cases:
            more = {"properties.security.protocol": protocol, **more}
            what = f"{listener} {more.get('properties.sasl.mechanism', '')}, {fetch}"
            read_ids(directory, "secure", broker.secure[listener], fetch, range(500), what, more)
    # librdkafka 2.0, which still lists the partitions, cannot log in with SCRAM at brokers from 3.7.2 on (CVE-2024-56128): the fetch alone.
    if FETCH_TEST.exists():
        for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
            for listener in ("sasl_plaintext", "sasl_ssl"):
                result = subprocess.run([str(FETCH_TEST), "--gtest_filter=FetchClient.LogsInAtABroker"], text=True, capture_output=True, env=dict(
                    os.environ, SLUICE_TEST_BROKER=broker.secure[listener], SLUICE_TEST_PROTOCOL=listener, SLUICE_TEST_MECHANISM=mechanism,
                    SLUICE_TEST_CA=f"{tls}/ca.pem", SLUICE_TEST_TOPIC="secure", SLUICE_TEST_COUNT="500"))
                if result.returncode != 0 or "SKIPPED" in result.stdout:
                    raise Failure(f"{mechanism} over {listener}:\n{result.stdout}")
    # Refused: a wrong password, an authority that signed nothing.
    quick = {"properties.default.api.timeout.ms": "3000"}
    code, _, text = read(directory, "secure", broker.secure["sasl_plaintext"], "native",
                         {"properties.security.protocol": "SASL_PLAINTEXT", **login("PLAIN", "not-her-secret"), **quick})
    if code == 0 or "properties.sasl." not in text or "not-her-secret" in text:
        raise Failure(f"wrong password: exit {code}\n{text}")
    code, _, text = read(directory, "secure", broker.secure["sasl_ssl"], "native",
                         {"properties.security.protocol": "SASL_SSL", **trust, "properties.ssl.truststore.location": f"{tls}/other-ca.pem",
                          **login("PLAIN"), **quick})
    if code == 0 or "certificate" not in text:
        raise Failure(f"wrong authority: exit {code}\n{text}")


class Job:
    """A streaming job from `topic` to JSON files."""

    def __init__(self, directory, topic, address, fetch, more=None):
        self.directory = directory / f"{topic}-job"
        self.directory.mkdir()
        self.script = self.directory / "job.sql"
        self.log_path = self.directory / "log"
        self.script.write_text(f"""SET 'execution.checkpointing.interval' = '200 ms';
SET 'execution.checkpointing.dir' = '{self.directory}/state';
CREATE TABLE topic (id BIGINT) WITH ({with_options(topic, address, fetch, more)});
CREATE TABLE lake (id BIGINT) WITH ('connector' = 'filesystem', 'path' = '{self.directory}/lake', 'format' = 'json',
  'sink.rolling-policy.rollover-interval' = '300 ms', 'sink.rolling-policy.check-interval' = '100 ms');
INSERT INTO lake SELECT id FROM topic;
""")
        self.start()

    def start(self):
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen([SLUICE, "run", str(self.script)], stdout=log, stderr=log)

    def ids(self):
        found = []
        for path in glob.glob(f"{self.directory}/lake/part-*"):
            found += [json.loads(line)["id"] for line in pathlib.Path(path).read_text().splitlines()]
        return found

    def wait_for(self, count, seconds=40):
        deadline = time.time() + seconds
        while len(self.ids()) < count:
            if self.process.poll() is not None or time.time() > deadline:
                raise Failure(f"{self.directory.name}: {len(self.ids())} of {count} rows\n{self.text()}")
            time.sleep(0.1)

    def stop(self, seconds=20):
        """(exit code, seconds) of a Ctrl-C."""
        began = time.time()
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(seconds), time.time() - began
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure(f"{self.directory.name}: Ctrl-C did not end it within {seconds} s\n{self.text()}")

    def text(self):
        return self.log_path.read_text(errors="replace")[-3000:]


def case_partitions_added(broker, directory):
    for fetch in FETCHES:
        topic = f"growing-{fetch}"
        broker.run("topic", topic, "1")
        broker.produce(topic, range(100))
        job = Job(directory, topic, broker.address, fetch, {"scan.topic-partition-discovery.interval": "300 ms"})
        job.wait_for(100)
        broker.topics("--alter", "--topic", topic, "--partitions", "3")
        broker.produce(topic, range(100, 200), "-p", "2")
        job.wait_for(200)
        code, _ = job.stop()
        expect(job.ids(), range(200), f"partitions added, {fetch}, exit {code}")


def case_broker_restarts(broker, directory):
    """Killed twice under running jobs, then down: jobs end when told to, and say who is missing."""
    jobs = []
    total = 0
    for fetch in FETCHES:
        broker.run("topic", f"restarts-{fetch}", "2")
        jobs.append(Job(directory, f"restarts-{fetch}", broker.address, fetch, {"properties.group.id": f"g-{fetch}"}))

    def produce(count):
        nonlocal total
        for fetch in FETCHES:
            for partition in range(2):
                broker.produce(f"restarts-{fetch}", range(total + partition, total + count, 2), "-p", str(partition))
        total += count
        for job in jobs:
            job.wait_for(total)

    produce(2000)
    for _ in range(2):
        broker.run("kill")
        time.sleep(1)
        broker.run("start")
        produce(2000)
    broker.run("kill")
    time.sleep(1.5)
    for fetch, job in zip(FETCHES, jobs):
        code, seconds = job.stop()
        if code != 0 or seconds > 8:
            raise Failure(f"Ctrl-C while the broker is down, {fetch}: exit {code} after {seconds:.1f} s\n{job.text()}")
        expect(job.ids(), range(total), f"broker restarts, {fetch}")
        job.start()  # There is no broker to begin with.
        time.sleep(1.5)
        code, seconds = job.stop()
        text = job.text()
        if code == 0 or seconds > 8:
            raise Failure(f"Ctrl-C while it waits for the broker, {fetch}: exit {code} after {seconds:.1f} s\n{text}")
        for part in ("default_catalog.default_database.topic", f"restarts-{fetch}", broker.address):
            if part not in text:
                raise Failure(f"the message does not name {part}:\n{text}")
    broker.run("start")
    for job in jobs:  # Where they ended they go on.
        job.start()
    produce(1000)
    for fetch, job in zip(FETCHES, jobs):
        job.stop()
        expect(job.ids(), range(total), f"after the broker came back, {fetch}")


CASES = {"codecs": case_codecs, "transactions": case_transactions, "compacted": case_compacted, "security": case_security,
         "partitions_added": case_partitions_added, "broker_restarts": case_broker_restarts}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=CASES)
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-kafka-"))
    broker = Broker(directory)
    failed = False
    try:
        for name, case in CASES.items():
            if options.only not in (None, name):
                continue
            began = time.time()
            try:
                case(broker, directory)
                print(f"{name}: ok, {time.time() - began:.0f} s", flush=True)
            except (Failure, RuntimeError) as failure:
                failed = True
                print(f"{name}: FAILED: {failure}", flush=True)
    finally:
        broker.run("wipe")
        if not options.keep and not failed:
            shutil.rmtree(directory)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
