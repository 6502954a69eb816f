#!/usr/bin/env python3
# ctest: timeout=600
"""Disks that are full, over quota, faulty, read-only or forbidden, and foreign files in a table: what a job says, and what it does.

A stream writes csv and Parquet when the fault begins. What can heal (full, quota, I/O error) is tried again until it has; what cannot (rights, a
read-only mount) stops the job with its state kept, and the same command goes on when the cause is gone. Every row is there once in the end. The
message names what the system answered, the path, and what to do.
"""
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import pyarrow.parquet as parquet

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from checks import expect, run_tests  # noqa: E402
from faults import Faults  # noqa: E402

SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
DIRECTORY = pathlib.Path(tempfile.mkdtemp(prefix="sluice-disks-"))
FAULTS = Faults(DIRECTORY)
ROWS = 900


class Stream:
    """A job of ROWS rows into two tables below `folder`."""

    def __init__(self, name, folder=None, rows=ROWS, per_second=300, more="", user=None):
        self.folder = pathlib.Path(folder or DIRECTORY / name)
        self.state = DIRECTORY / f"{name}-state"
        self.log = DIRECTORY / f"{name}.log"
        self.script = DIRECTORY / f"{name}.sql"
        self.rows, self.user = rows, user
        tables = "".join(
            f"CREATE TABLE t_{form} (id BIGINT{', pad STRING' if more else ''}, k STRING) PARTITIONED BY (k) WITH ('connector' = 'filesystem', "
            f"'path' = '{self.folder}/t_{form}', 'format' = '{form}');\n"
            for form in ("csv", "parquet")
        )
        inserts = "".join(f"INSERT INTO t_{form} SELECT id{more}, CAST(MOD(id, 2) AS STRING) FROM g;\n" for form in ("csv", "parquet"))
        self.script.write_text(
            f"SET 'execution.checkpointing.interval' = '200 ms';\nSET 'execution.checkpointing.dir' = '{self.state}';\nSET 'parallelism.default' = '2';\n"
            "SET 'restart-strategy.exponential-delay.initial-backoff' = '300 ms';\n"
            f"CREATE TABLE g (id BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '{per_second}', 'fields.id.kind' = 'sequence', "
            f"'fields.id.start' = '1', 'fields.id.end' = '{rows}');\n{tables}EXECUTE STATEMENT SET BEGIN\n{inserts}END;\n"
        )

    def start(self):
        with self.log.open("w") as log:
            self.process = subprocess.Popen([SLUICE, "run", str(self.script)], stdout=log, stderr=log, env=dict(os.environ, **FAULTS.environment), user=self.user, cwd="/")
        return self

    def wait(self, seconds=60):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise Failure(f"{self.script.stem}: no end within {seconds} s\n{self.messages[-1500:]}")

    @property
    def messages(self):
        return self.log.read_text(errors="replace")

    def ids(self, form):
        found = []
        for path in (self.folder / f"t_{form}").glob("k=*/part-*"):
            found += parquet.ParquetFile(path).read(["id"]).column(0).to_pylist() if form == "parquet" else [int(line.split(",")[0]) for line in path.read_text().splitlines()]
        return found

    def wait_for_rows(self):
        deadline = time.monotonic() + 20
        while not self.ids("csv") and time.monotonic() < deadline:
            expect(self.process.poll() is None, f"{self.script.stem}: ended early\n{self.messages[-1500:]}")
            time.sleep(0.05)

    def expect_words(self, words):
        for word in words:
            expect(word in self.messages, f"{self.script.stem}: the message lacks {word!r}\n{self.messages[-1500:]}")

    def expect_all_rows(self):
        for form in ("csv", "parquet"):
            counts = collections.Counter(self.ids(form))
            twice = [row for row, count in counts.items() if count > 1]
            expect(not twice and len(counts) == self.rows, f"{self.script.stem}: {len(counts)} of {self.rows} rows in {form}, {len(twice)} twice")
            left = list((self.folder / f"t_{form}").rglob(".part-*"))
            expect(not left, f"{self.script.stem}: left behind {left[:2]}")


FULL = ["No space left on device", "The disk is full: free space there, or write to another one"]


def test_what_can_heal_is_tried_again():
    cases = {
        "full": ("write {tables} ENOSPC 1000", ["{tables}/t_", *FULL]),
        "half_full": ("write {tables} ENOSPC 300", ["{tables}/t_", *FULL]),
        "no_inodes": ("open {tables} ENOSPC 1000", ["{tables}/t_", *FULL]),
        "quota": ("write {tables} EDQUOT 1000", ["{tables}/t_", "Disk quota exceeded", "The quota of this user is used up: free space there, or have it raised"]),
        "fault": ("sync {tables} EIO 1000", ["{tables}/t_", "Input/output error", "The disk reported a fault: look at the kernel's log"]),
        "state_full": ("write {state} ENOSPC 1000", ["{state}", *FULL]),
        "state_fault": ("sync {state} EIO 1000", ["{state}", "Input/output error", "look at the kernel's log"]),
    }
    for name, (rule, words) in cases.items():
        stream = Stream(name).start()
        stream.wait_for_rows()
        places = {"tables": stream.folder, "state": stream.state}
        FAULTS.set(rule.format(**places))
        time.sleep(2)
        expect(stream.process.poll() is None, f"{name}: the job has given up\n{stream.messages[-1500:]}")
        FAULTS.clear()
        code = stream.wait()
        expect(code == 0, f"{name}: exit {code} after the disk was well again\n{stream.messages[-1500:]}")
        stream.expect_words([word.format(**places) for word in words])
        stream.expect_all_rows()


def test_what_cannot_heal_stops_the_job_and_its_state_is_kept():
    cases = {
        "forbidden": ("open {tables} EACCES 1000", ["{tables}/t_", "Permission denied", "Give the user who runs this program the right to it"]),
        "read_only": ("open {tables} EROFS 1000", ["{tables}/t_", "Read-only file system", "mount it writable, or write to another one"]),
        "state_forbidden": ("open {state} EACCES 1000", ["{state}", "Permission denied", "Give the user who runs this program the right to it"]),
    }
    for name, (rule, words) in cases.items():
        stream = Stream(name).start()
        stream.wait_for_rows()
        places = {"tables": stream.folder, "state": stream.state}
        FAULTS.set(rule.format(**places))
        code = stream.wait(30)
        expect(code == 1, f"{name}: exit {code}\n{stream.messages[-1500:]}")
        stream.expect_words([word.format(**places) for word in words])
        expect(list(stream.state.rglob("_metadata")), f"{name}: the state is gone")
        FAULTS.clear()
        code = stream.start().wait()
        expect(code == 0 and "resumes from checkpoint" in stream.messages, f"{name}: exit {code} when the cause was gone\n{stream.messages[-1500:]}")
        stream.expect_all_rows()


def test_a_disk_that_is_really_full():
    """A small tmpfs; left out where nothing may be mounted."""
    mount = DIRECTORY / "small"
    mount.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", mount], capture_output=True).returncode != 0:
        print("left out: nothing may be mounted here")
        return
    try:
        ballast = mount / "ballast"
        ballast.write_bytes(b"x" * (1500 << 10))
        stream = Stream("really_full", mount, rows=1500, per_second=500, more=", REPEAT('x', 300)").start()
        deadline = time.monotonic() + 30
        while FULL[0] not in stream.messages and time.monotonic() < deadline:
            expect(stream.process.poll() is None, f"a full disk: the job has ended\n{stream.messages[-1500:]}")
            time.sleep(0.1)
        time.sleep(1)
        ballast.unlink()
        code = stream.wait()
        expect(code == 0, f"exit {code} after there was room again\n{stream.messages[-1500:]}")
        stream.expect_words(FULL)
        stream.expect_all_rows()
    finally:
        subprocess.run(["umount", "-l", mount], check=True)


def test_a_directory_that_is_really_forbidden():
    """As another user; left out where this one cannot be changed."""
    if os.geteuid() != 0:
        print("left out: needs another user")
        return
    import pwd

    nobody = pwd.getpwnam("nobody").pw_uid
    os.chmod(DIRECTORY, 0o755)
    stream = Stream("nobody", user=nobody)
    stream.folder.mkdir(mode=0o755)
    stream.state.mkdir()
    os.chown(stream.state, nobody, -1)
    code = stream.start().wait(30)
    expect(code == 1, f"exit {code}\n{stream.messages[-1500:]}")
    stream.expect_words([f"{stream.folder}/t_", "Permission denied", "Give the user who runs this program the right to it"])
    os.chown(stream.folder, nobody, -1)
    code = stream.start().wait()
    expect(code == 0, f"exit {code} with the right\n{stream.messages[-1500:]}")
    stream.expect_all_rows()


def test_a_file_where_a_directory_is_needed():
    (DIRECTORY / "a_file").write_text("")
    stream = Stream("below_a_file", DIRECTORY / "a_file" / "below").start()
    code = stream.wait(30)
    expect(code == 1, f"exit {code}")
    stream.expect_words([f"{DIRECTORY}/a_file", "A part of this path is a file, where a folder is needed"])


def run(sql):
    return subprocess.run([SLUICE, "run", "-e", "SET 'execution.runtime-mode' = 'batch';\n" + sql, "--output", "csv"], capture_output=True, text=True, cwd=DIRECTORY, timeout=60)


def test_foreign_and_half_written_files_in_a_table():
    for form in ("csv", "json", "parquet", "avro", "orc"):
        table = DIRECTORY / f"foreign_{form}"
        ddl = f"CREATE TABLE t (id BIGINT, k STRING) PARTITIONED BY (k) WITH ('connector' = 'filesystem', 'path' = '{table}', 'format' = '{form}');\n"
        for first in (1, 3):
            done = run(ddl + f"INSERT INTO t VALUES ({first}, 'a'), ({first + 1}, 'a');")
            expect(done.returncode == 0, done.stderr)
        whole = next((table / "k=a").glob("part-*")).read_bytes()
        half = {"csv": b"1\n2,3,4\n", "json": b'{"id":1}\n{"id":'}.get(form, whole[: len(whole) * 2 // 3])
        for name, content in (("notes.txt", b"these are\nmy notes\n"), ("part-half", half)):
            foreign = table / "k=a" / name
            foreign.write_bytes(content)
            done = run(ddl + "SELECT id FROM t;")
            expect(done.returncode == 1 and str(foreign) in done.stderr, f"{form}, {name}: exit {done.returncode}, the message must name the file: {done.stderr}")
            before = {path.name: path.read_bytes() for path in (table / "k=a").iterdir()}
            done = run(ddl + "COMPACT TABLE t;")
            after = {path.name: path.read_bytes() for path in (table / "k=a").iterdir()}
            if form in ("parquet", "avro", "orc"):
                expect(done.returncode == 1 and str(foreign) in done.stderr and before == after, f"{form}, {name}: COMPACT TABLE: exit {done.returncode} {done.stderr}")
            else:
                # Lines are put together as they are: nothing of anybody may be lost.
                expect(content in b"".join(after.values()), f"{form}, {name}: COMPACT TABLE has lost a foreign file: {done.stderr}")
                for path in (table / "k=a").iterdir():
                    path.unlink()
                for path in before:
                    (table / "k=a" / path).write_bytes(before[path])
            done = run(ddl + "INSERT INTO t VALUES (9, 'a');")
            expect(done.returncode == 0 and foreign.read_bytes() == content, f"{form}, {name}: INSERT beside a foreign file: {done.stderr}")
            foreign.unlink()
        done = run(ddl + "SELECT COUNT(*) FROM t;")
        expect("6" in done.stdout, f"{form}: {done.stdout} {done.stderr}")


def main():
    def run(test):
        FAULTS.clear()
        test()

    if not run_tests(globals(), run):
        print(f"files are in {DIRECTORY}")
        return 1
    shutil.rmtree(DIRECTORY)
    return 0


if __name__ == "__main__":
    sys.exit(main())
