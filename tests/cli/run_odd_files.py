#!/usr/bin/env python3
# ctest: timeout=180
"""What people leave in directories: links that go round, names that are no text, files of others, places that cannot be written."""
import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cli_world import SLUICE, Folder, check, run_tests  # noqa: E402

BATCH = ("-D", "execution.runtime-mode=batch", "--output", "json")
NOBODY = 65534


class World(Folder):
    def __init__(self):
        super().__init__("odd-files")
        self.inside = self.directory / "in"

    def table(self, name="t", path="in", form="csv", more="", columns="i INT, `file.name` STRING NOT NULL METADATA VIRTUAL"):
        return f"CREATE TABLE {name} ({columns}) WITH ('connector'='filesystem', 'path'='{self.directory}/{path}', 'format'='{form}'{more}); "

    def query(self, sql):
        return self.call("run", "-e", sql, *BATCH)

    def rows(self, sql):
        done = self.query(sql)
        check(done.returncode == 0, sql, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def put_odd_links(self):
        (self.inside / "a").write_text("1\n")
        (self.inside / "sub").mkdir()
        (self.inside / "sub" / "b").write_text("2\n")
        (self.directory / "beside").mkdir()
        (self.directory / "beside" / "c").write_text("3\n")
        for name, target in (("loop", "."), ("sub/above", "../.."), ("out", "../beside"), ("dangling", "nowhere"), ("ring", "ring")):
            (self.inside / name).symlink_to(target)


def test_links_that_go_round_are_read_once():
    world = World()
    world.put_odd_links()
    done = world.query(world.table() + "SELECT i FROM t ORDER BY i")
    check(done.returncode == 0 and [json.loads(line)["i"] for line in done.stdout.splitlines()] == [1, 2, 3], "every file once", done.stdout + done.stderr)
    for name in ("in/loop", "in/sub/above", "in/dangling", "in/ring"):
        check(f"{world.directory}/{name} is not followed" in done.stderr, f"{name} is told", done.stderr)


def test_links_that_go_round_in_a_watched_directory():
    world = World()
    script = world.directory / "watch.sql"
    script.write_text("SET 'execution.checkpointing.interval' = '200 ms';" + world.table("s", more=", 'source.monitor-interval'='200 ms'", columns="i INT")
                      + world.table("o", "out", columns="i INT") + "INSERT INTO o SELECT i FROM s;")
    job = world.start(script)
    time.sleep(0.5)
    world.put_odd_links()
    (world.inside / "late").write_text("4\n")

    def written():
        return sorted(int(line) for path in (world.directory / "out").glob("part-*") for line in path.read_text().split())

    end = time.time() + 20
    while time.time() < end and len(written()) < 4:
        time.sleep(0.1)
    time.sleep(0.6)  # Two more looks at the directory.
    job.send_signal(signal.SIGTERM)
    check(job.wait(timeout=30) == 0 and written() == [1, 2, 3, 4], "every file once", f"{written()}\n{job.log.read_text()}")


def test_names_that_are_no_text():
    world = World()
    for number, name in enumerate((b"sp ace", b"a=b%41", b"new\nline", b"\xe9t\xe9", b"100%", "\u6f22".encode())):
        (pathlib.Path(os.fsdecode(os.fsencode(world.inside) + b"/" + name))).write_text(f"{number}\n")
    names = [row["file.name"] for row in world.rows(world.table() + "SELECT i, `file.name` FROM t ORDER BY i")]
    check(names == ["sp ace", "a=b%41", "new\nline", "\u00e9t\u00e9", "100%", "\u6f22"], "each name is a text", str(names))


def test_names_cannot_steer_a_terminal():
    name = b"\x1b[31mred\n[ERROR] forged \xc2\x9b2J"
    shown = r"in/\x1B[31mred" + "\n"
    world = World()
    path = pathlib.Path(os.fsdecode(os.fsencode(world.inside) + b"/" + name))
    path.write_bytes(b"")
    log = world.query(world.table(form="parquet", columns="i INT") + "SELECT i FROM t")
    check(log.returncode == 0 and "Skipped " in log.stderr and shown + r"  [ERROR] forged \xC2\x9B2J, which" in log.stderr, "a line of the log", log.stderr)
    verified = world.call("verify", str(world.directory / "in"))
    check(r"\x1B[31mred" in verified.stdout, "a finding of verify", verified.stdout + verified.stderr)
    path.write_bytes(b"buy milk, and some more of it\n")
    error = world.query(world.table(form="parquet", columns="i INT") + "SELECT i FROM t")
    check(error.returncode == 1 and shown in error.stderr, "an error", error.stderr)
    for printed in (log.stderr, error.stderr, verified.stdout, verified.stderr):
        check("\x1b" not in printed and "\u009b" not in printed, "no control character", repr(printed))


def test_files_of_others_are_named_with_what_to_do():
    whole = gzip.compress(b"1\n" * 100_000)
    cases = (("parquet", "notes.txt", b"buy milk, and some more of it\n"), ("orc", "notes.txt", b"buy milk\n"), ("avro", "notes.txt", b"buy milk\n"),
             ("csv", "cut.csv.gz", whole[: len(whole) // 2]))
    for form, name, data in cases:
        world = World()
        (world.inside / name).write_bytes(data)
        done = world.query(world.table(form=form, columns="i INT") + "SELECT i FROM t")
        check(done.returncode == 1 and f"in/{name}. To read the table without this file, move it away" in done.stderr, f"{form}: file and remedy", done.stderr)
    check("damaged behind decompressed byte 0:" not in done.stderr, "how far it could be read", done.stderr)


def test_what_readers_would_take_for_rows():
    world = World()
    (world.inside / "f").write_text('{"i":1}\n{"i":true}\n')
    done = world.query(world.table(form="json", more=", 'json.ignore-parse-errors'='true'", columns="i INT") + "SELECT i FROM t")
    check("Set a field to NULL" in done.stderr and "ignore-parse-errors" not in done.stderr, "no advice to set what is set", done.stderr)


def as_nobody(world, sql):
    command = [SLUICE, "run", "-e", sql]
    environment = dict(world.environment, XDG_STATE_HOME=str(world.directory / "state"))
    return subprocess.run(command, capture_output=True, text=True, env=environment, cwd=world.directory, timeout=20, user=NOBODY, group=NOBODY, extra_groups=[])


def test_places_that_cannot_be_written_are_told_before_the_first_row():
    if os.geteuid() != 0:
        return
    world = World()
    world.directory.chmod(0o755)
    (world.directory / "state").mkdir(mode=0o777)
    (world.directory / "state").chmod(0o777)
    watched = world.table("s", more=", 'source.monitor-interval'='200 ms'", columns="i INT")  # It stays empty.
    done = as_nobody(world, watched + world.table("o", "out", columns="i INT") + "INSERT INTO o SELECT i FROM s")
    check(done.returncode == 1 and f"folder {world.directory}: Permission denied" in done.stderr and "'nobody'" in done.stderr, "path and user", done.stderr)
    (world.directory / "state").chmod(0o700)
    done = as_nobody(world, world.table("o", "out", columns="i INT") + "INSERT INTO o VALUES (1)")
    check(done.returncode == 1 and "Cannot create the state folder" in done.stderr and "'execution.checkpointing.dir'" in done.stderr, "the option of the state", done.stderr)


def test_output_that_cannot_be_written_is_no_success():
    world = World()
    for sql in ("SELECT 1", "SHOW TABLES"):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([SLUICE, "run", "-e", sql], stdout=full, stderr=subprocess.PIPE, text=True, env=world.environment, cwd=world.directory)
        check(done.returncode == 1 and "Results are missing" in done.stderr, f"a full disk behind {sql}", f"{done.returncode} {done.stderr}")
    # With standard output closed the first file opened must not take its place.
    sql = world.table("o", "out", columns="i INT") + "INSERT INTO o VALUES (1); SELECT i FROM o"
    done = subprocess.run(["sh", "-c", 'exec "$0" "$@" >&-', SLUICE, "run", "-e", sql], stderr=subprocess.PIPE, text=True, env=world.environment, cwd=world.directory)
    files = [path.read_text() for path in (world.directory / "out").glob("part-*")]
    check(done.returncode == 0 and files == ["1\n"], "what is printed goes into no file", f"{files} {done.stderr}")


def test_a_limit_of_file_sizes_ends_the_job_with_a_message():
    world = World()
    sql = ("CREATE TABLE g (s STRING) WITH ('connector'='datagen', 'number-of-rows'='50000'); " + world.table("o", "out", columns="s STRING") + "INSERT INTO o SELECT s FROM g")
    done = subprocess.run(["sh", "-c", 'ulimit -f 400; exec "$0" "$@"', SLUICE, "run", "-e", sql, *BATCH], capture_output=True, text=True, env=world.environment, cwd=world.directory, timeout=60)
    check(done.returncode == 1 and "File too large" in done.stderr and "ulimit -f" in done.stderr, "what the limit is", f"{done.returncode} {done.stderr}")


def test_a_trigger_without_watermarks_is_told():
    world = World()
    script = world.directory / "untimed.sql"
    script.write_text(world.table("s", more=", 'source.monitor-interval'='200 ms'", columns="i INT") +
                      f"CREATE TABLE o (i INT, dt STRING) PARTITIONED BY (dt) WITH ('connector'='filesystem', 'path'='{world.directory}/out', 'format'='csv', "
                      "'sink.partition-commit.trigger'='partition-time', 'sink.partition-commit.policy.kind'='success-file'); INSERT INTO o SELECT i, '2020-05-20' FROM s;")
    job = world.start(script)
    end = time.time() + 10
    while time.time() < end and "runs in the background" not in job.log.read_text():
        time.sleep(0.05)
    job.send_signal(signal.SIGTERM)
    check(job.wait(timeout=30) == 0 and "default_database.s declares no watermark" in job.log.read_text(), "the table is named", job.log.read_text())


def test_policies_say_what_went_wrong():
    world = World()
    sink = (f"CREATE TABLE o (i INT, p STRING) PARTITIONED BY (p) WITH ('connector'='filesystem', 'path'='{world.directory}/out', 'format'='csv', "
            "'sink.partition-commit.policy.kind'='command', 'sink.partition-commit.policy.command'='%s'); INSERT INTO o VALUES (1, 'a')")
    done = world.query(sink % r'printf "\033[31mred\nlast" >&2; exit 70')
    check(done.returncode == 1 and r"ended with 70: \x1B[31mred" in done.stderr and "last." in done.stderr, "nothing reaches the terminal as it is", done.stderr)
    check("the same command goes on" in done.stderr, "what to do", done.stderr)
    done = world.query(sink % "exit 64")
    check("ended with 64 and said nothing on its standard error." in done.stderr, "a silent command", done.stderr)


if __name__ == "__main__":
    run_tests(globals())
