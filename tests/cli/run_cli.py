#!/usr/bin/env python3
# ctest: timeout=240
"""The command line as a newcomer and a pipe meet it: exit codes, outputs, errors, signals, job identity."""
import csv
import io
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import sys
import tempfile
import termios
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
DIRECTORY = pathlib.Path(tempfile.mkdtemp(prefix="sluice-cli-"))
ENVIRONMENT = dict(os.environ, XDG_STATE_HOME=str(DIRECTORY / "state"), TZ="UTC")
failures = []


def sluice(*arguments, data=None, **more):
    return subprocess.run([SLUICE, *arguments], capture_output=True, text=True, input=data, cwd=DIRECTORY, env=dict(ENVIRONMENT, **more), timeout=60)


def check(condition, what, done=None):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}" + (f"\n  exit {done.returncode}\n  stdout {done.stdout[-600:]!r}\n  stderr {done.stderr[-600:]!r}" if done else ""))


def run(sql, *more):
    return sluice("run", "-e", sql, *more)


def test_usage():
    done = sluice("--version")
    check(done.returncode == 0 and done.stdout.startswith("sluice ") and "time zones" in done.stdout, "--version (rule 3.2: zone rules are shown)", done)
    done = sluice("run", "--help")
    check(done.returncode == 0 and all(word in done.stdout for word in ("FILE", "--execute", "-D", "--output", "--fresh", "Exit code")), "run --help", done)
    for arguments in (["run"], ["run", "a.sql", "-e", "SELECT 1"], ["nonsense"], ["run", "-e", "SELECT 1", "--output", "xml"], ["run", "-e", "SELECT 1", "-D", "noequals"],
                      ["run", "missing.sql"]):
        done = sluice(*arguments)
        check(done.returncode == 2 and (done.stderr or done.stdout), f"bad usage {arguments} is exit 2", done)


def test_configuration_flag():
    (DIRECTORY / "one.sql").write_text("SELECT 1 AS a;")
    done = sluice("run", "-D", "execution.runtime-mode=batch", "-D", "parallelism.default=1", "one.sql", "--output", "json")
    check(done.returncode == 0 and json.loads(done.stdout) == {"a": 1}, "-D takes one value: the script may follow it", done)


def test_live_line_fits_the_terminal():
    """On 80 columns the line of a running job is never cut: its least important pieces give way."""
    job = """CREATE TABLE numbers (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='20000', 'fields.id.kind'='sequence', 'fields.id.start'='0', 'fields.id.end'='50000');
        CREATE TABLE a_table_with_a_long_name (id BIGINT) WITH ('connector'='filesystem', 'path'='live', 'format'='csv');
        SET 'execution.checkpointing.interval'='200 ms'; INSERT INTO a_table_with_a_long_name SELECT * FROM numbers"""
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    process = subprocess.Popen([SLUICE, "run", "-e", job], cwd=DIRECTORY, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    text = b""
    try:
        while piece := os.read(master, 65536):
            text += piece
    except OSError:
        pass  # The other end is closed: the program has ended.
    check(process.wait(timeout=30) == 0, f"the job under a terminal: {text[-400:]!r}")
    lines = [line for line in re.split(r"[\r\n]+(?:\x1b\[K)?", text.decode()) if "  in " in line or ": in " in line]
    check(lines and all(len(line) < 80 and not line.endswith("...") for line in lines), f"live lines fit 80 columns: {lines[-3:]}")


def test_identity_of_text():
    """Text on the command line is a job of its own: another text, or another folder, does not take up its state."""
    for name in ("e1", "e2"):
        (DIRECTORY / name).mkdir()
        (DIRECTORY / name / "a.csv").write_text(f"1,{name}\n")
    for name in ("e1", "e2"):
        text = f"""SET 'execution.checkpointing.interval'='100 ms';
            CREATE TABLE src (id INT, s STRING) WITH ('connector'='filesystem','path'='{name}','format'='csv','source.monitor-interval'='100 ms');
            CREATE TABLE dst (id INT, s STRING) WITH ('connector'='filesystem','path'='{name}-out','format'='csv'); INSERT INTO dst SELECT * FROM src"""
        process = subprocess.Popen([SLUICE, "run", "-e", text], cwd=DIRECTORY, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        deadline = time.time() + 20
        while time.time() < deadline and not list((DIRECTORY).glob(f"{name}-out/part-*")):
            time.sleep(0.05)
        # Both halves of a terminal's Ctrl-C: one wish, not "at once".
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=30)[1]
        check(process.returncode == 0 and "resumes from" not in errors, f"-e with {name} is a job of its own and two signals at once are one", None)
        rows = "".join(path.read_text() for path in DIRECTORY.glob(f"{name}-out/part-*"))
        check(rows == f"1,{name}\n", f"rows of {name}: {rows!r} {errors[-300:]}")


def test_nearest_options():
    for option, nearest in (("csv.delimiter", "csv.field-delimiter"), ("sink.partition-commit.policy", "sink.partition-commit.policy.kind")):
        done = run(f"CREATE TABLE t (a INT) WITH ('connector'='filesystem','path'='x','format'='csv','{option}'='x')")
        check(done.returncode == 1 and f"Did you mean '{nearest}'" in done.stderr, f"{option} is near {nearest}", done)
    done = run("CREATE TABLE t (a INT) WITH ('connector'='filesystem','path'='x','format'='csv','bad-records.max-count'='1')")
    check(done.returncode == 1 and "has no effect here" in done.stderr and "bad-records.path" in done.stderr, "a limit without anything to limit is refused", done)


def test_outputs():
    sql = "SELECT * FROM (VALUES (1, 'a,b', CAST(1.50 AS DECIMAL(5,2)), TRUE, DATE '2020-05-20'), (2, CAST(NULL AS STRING), NULL, NULL, NULL), (3, '', 2.25, FALSE, NULL)) AS t(i, s, d, b, dt)"
    batch = ("-D", "execution.runtime-mode=batch")
    done = run(sql, "--output", "csv", *batch)
    check(done.stdout == 'i,s,d,b,dt\n1,"a,b",1.50,TRUE,2020-05-20\n2,,,,\n3,"",2.25,FALSE,\n', "csv output: header, RFC 4180, NULL empty, '' as \"\"", done)
    done = run(sql, "--output", "json", *batch)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    check(rows == [{"i": 1, "s": "a,b", "d": "1.50", "b": True, "dt": "2020-05-20"}, {"i": 2, "s": None, "d": None, "b": None, "dt": None},
                   {"i": 3, "s": "", "d": "2.25", "b": False, "dt": None}], "json output: one object a row, decimals and dates as text", done)
    check(list(rows[0]) == ["i", "s", "d", "b", "dt"], "json output: keys in order of the columns", done)
    done = run(sql, *batch)
    check("| <NULL> |" in done.stdout and "3 rows in set" in done.stdout, "table output", done)
    done = run("SELECT x, COUNT(*) AS n FROM (VALUES (1), (1)) AS t(x) GROUP BY x", "--output", "json")
    check([json.loads(line)["op"] for line in done.stdout.splitlines()] == ["+I", "-U", "+U"], "a changelog carries op", done)
    done = run("SELECT 1 AS a", "--output", "json")
    check(json.loads(done.stdout) == {"a": 1}, "no op without changes", done)
    for statement in ("SHOW TABLES", "DESCRIBE t", "EXPLAIN SELECT * FROM t", "SHOW CREATE TABLE t"):
        text = f"CREATE TABLE t (a INT) WITH ('connector'='datagen'); {statement}"
        done = run(text, "--output", "json")
        check(done.returncode == 0 and all(isinstance(json.loads(line), dict) for line in done.stdout.splitlines()) and done.stdout, f"{statement} as json", done)
        done = run(text, "--output", "csv")
        check(done.returncode == 0 and len(list(csv.reader(io.StringIO(done.stdout)))) >= 2, f"{statement} as csv", done)
    check(run("CREATE TABLE t (a INT) WITH ('connector'='datagen'); SET 'a'='b'").stdout == "", "DDL prints nothing to stdout")


def test_errors():
    done = run("SELECT 1;\nSELECT nocol\nFROM (VALUES (1)) AS t(nacol)")
    check(done.returncode == 1 and "Line 2, column 8" in done.stderr and "did you mean 'nacol'" in done.stderr and "\nSELECT nocol\n       ^" in done.stderr, "a caret under the token", done)
    done = run("SELECT 1;\nSELECT FROM x; SELECT 2; SELECT (;")
    check(done.returncode == 1 and done.stdout == "" and done.stderr.count("SQL parse failed") == 2, "a script shows all its syntax errors and runs nothing", done)
    done = run("SELECT 1 AS a; SELECT CAST('x' AS INT); SELECT 2 AS b", "--output", "json")
    check(done.returncode == 1 and done.stdout == '{"a":1}\n' and "For input string: 'x'" in done.stderr, "the first failing statement ends the script", done)
    done = run("CREATE TABLE t (a INT) WITH ('connector'='filesystem','path'='x','format'='csv','csv.field-delimeter'=';')")
    check(done.returncode == 1 and "field-delimiter" in done.stderr, "unknown options name the nearest", done)
    done = run("SELECT 1", "-D", "execution.runtime-mode=fast")
    check(done.returncode != 0 and "execution.runtime-mode" in done.stderr, "wrong configuration names its key", done)
    done = run("SET 'table.local-time-zone'='Asia/Shanghia'")
    check(done.returncode == 1 and "Asia/Shanghai" in done.stderr, "rule 3.3: zone names are checked, with the nearest", done)
    done = run("SELECT 1 AS a", "--log-format", "json", "--output", "json")
    check(done.returncode == 0, "--log-format json", done)
    done = run("CREATE TABLE t (a INT) WITH ('connector'='filesystem','path'='nowhere','format'='csv'); SELECT * FROM t")
    check(done.returncode == 1 and "nowhere" in done.stderr, "a missing path is named", done)
    done = run("CREATE TABLE t (a INT) WITH ('connector'='filesystem','path'='ftp://x/y','format'='csv'); SELECT * FROM t")
    check(done.returncode == 1 and "file" in done.stderr and "ftp" in done.stderr, "rule 17.4: an unknown scheme lists the known ones", done)


def test_scripts():
    (DIRECTORY / "a.sql").write_text("-- nothing\n")
    check(sluice("run", "a.sql").returncode == 0, "an empty script")
    done = sluice("run", "-", "--output", "json", data="SELECT 5 AS a;")
    check(done.stdout == '{"a":5}\n', "a script from standard input", done)
    done = sluice("run", str(DIRECTORY))
    check(done.returncode == 2 and "directory" in done.stderr, "a directory is no script", done)


STREAM = """
SET 'execution.checkpointing.interval' = '200 ms';
SET 'parallelism.default' = '1';
CREATE TABLE g (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='20000', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='1000000');
CREATE TABLE f (id BIGINT) WITH ('connector'='filesystem', 'path'='%s', 'format'='json');
INSERT INTO f SELECT id FROM g;
"""


def ids(directory):
    found = []
    for path in (DIRECTORY / directory).glob("part-*"):
        found += [json.loads(line)["id"] for line in path.read_text().splitlines()]
    return sorted(found)


def test_stop_and_resume():
    script = DIRECTORY / "stream.sql"
    script.write_text(STREAM % "stream")
    seen = 0
    for stop in (signal.SIGTERM, signal.SIGKILL, signal.SIGINT):
        job = subprocess.Popen([SLUICE, "run", str(script)], cwd=DIRECTORY, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        job.send_signal(stop)
        log = job.communicate(timeout=20)[1]
        check(job.returncode == (-9 if stop == signal.SIGKILL else 0), f"rule 17.2: {stop.name} ends with {job.returncode}:\n{log}")
        if seen:
            check("resumes from checkpoint" in log, f"the same command says that it resumes:\n{log}")
        found = ids("stream")
        check(len(found) == len(set(found)) and len(found) >= seen, f"rows once after {stop.name}")
        if stop != signal.SIGKILL:
            check(found == list(range(1, len(found) + 1)), f"no row is missing after {stop.name}")
            check(len(found) > seen, f"{stop.name} publishes what there is")
        seen = len(found)
    done = sluice("run", "--fresh", "-e", "SELECT 1")
    check(done.returncode == 0, "--fresh", done)


def test_normal_end_leaves_nothing():
    sql = ("CREATE TABLE g (id BIGINT) WITH ('connector'='datagen', 'number-of-rows'='10');"
           "CREATE TABLE f (id BIGINT) WITH ('connector'='filesystem', 'path'='twice', 'format'='json'); INSERT INTO f SELECT id FROM g;")
    first = run(sql)
    before = {path.name: path.read_bytes() for path in (DIRECTORY / "twice").glob("part-*")}
    second = run(sql)
    check(first.returncode == 0 and second.returncode == 0 and "resumes" not in second.stderr, "rule 1.5: a job that ended normally leaves nothing to resume", second)
    after = {path.name: path.read_bytes() for path in (DIRECTORY / "twice").glob("part-*")}
    check(len(ids("twice")) == 20 and all(after.get(name) == text for name, text in before.items()), "rule 1.3: the same INSERT twice gives 20 rows, the first files unchanged")


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} groups, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
