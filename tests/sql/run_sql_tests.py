#!/usr/bin/env python3
"""Runs the SQL scripts tests/sql/*.test in every mode and compares rows, errors and files.

  run_sql_tests.py [--mode NAME]… [--crash-point NAME]… [--jobs N] [--keep] [FILE…]
"""
# ctest: timeout=600

import argparse
import fnmatch
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zlib
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.path.insert(0, str(HERE))
from script_file import ScriptError, file_content, read_script  # noqa: E402
from sluice_session import Session, fold_changelog, is_definition, is_job, is_table_from_query  # noqa: E402

MODES = {
    "batch-1": ("batch", 1, False),
    "batch-4": ("batch", 4, False),
    "streaming-1": ("streaming", 1, False),
    "streaming-4": ("streaming", 4, False),
    "streaming-restore": ("streaming", 2, True),
    "batch-restore": ("batch", 2, True),
}
BINARY = os.environ.get("SLUICE_BINARY", str(HERE.parent.parent / "build" / "sluice"))
UNTIL_SECONDS = 30


class Mismatch(Exception):
    """What was expected is not what came."""


def crash_points():
    done = subprocess.run([BINARY, "--list-crash-points"], capture_output=True, text=True, check=True)
    # Those of object stores are reached by tests/s3.
    return [point for point in done.stdout.split() if not point.startswith("store.")]


class FileRun:
    """One test file in one mode, in its own folder."""

    def __init__(self, script, mode, folder, points):
        self.script, self.mode, self.folder = script, mode, Path(folder)
        runtime, parallelism, self.restores = MODES[mode]
        self.points = points
        self.reached = set()
        self.data = self.folder / "data"
        self.data.mkdir(parents=True)
        self.session = Session(
            BINARY,
            self.folder / "session",
            {
                "execution.runtime-mode": runtime,
                "parallelism.default": parallelism,
                "table.local-time-zone": "UTC",
                "restart-strategy.type": "none",
            },
        )
        self.failures = []
        self.later = []  # Files to write once so many lines are published, for the next `until`.

    def fill(self, text):
        return text.replace("{TEST_DIR}", str(self.data))

    def run(self):
        records = [record for record in self.script.records if self.mode in record.modes]
        at = 0
        while at < len(records):
            group = [records[at]]
            while group[0].kind == "query" and at + len(group) < len(records) and records[at + len(group)].kind == "query":
                group.append(records[at + len(group)])
            at += len(group)
            answers = self.session.run_batch([self.fill(r.sql) for r in group]) if len(group) > 1 else None
            for index, record in enumerate(group):
                try:
                    self.run_record(record, answers[index] if answers else None)
                except (Mismatch, ValueError, OSError) as error:
                    self.failures.append(f"{self.script.path}:{record.line} [{self.mode}]\n{error}\n")
        return self.failures

    def run_record(self, record, answer):
        getattr(self, "run_" + record.kind)(record, answer)

    def run_file(self, record, _):
        for word in record.words:
            if word.startswith("when="):
                self.later.append((int(word[5:]), record))
                return
        self.write_file(record)

    def write_file(self, record):
        path = Path(self.fill(record.words[0]))
        path.parent.mkdir(parents=True, exist_ok=True)
        content = file_content(record)
        path.write_bytes(gzip.compress(content) if "gzip" in record.words else
                         zlib.compress(content) if "deflate" in record.words else content)
        for word in record.words:
            if word.startswith("mtime="):
                seconds = int(word[6:])
                os.utime(path, (seconds, seconds))

    def run_statement(self, record, _):
        sql = self.fill(record.sql)
        if record.words[0] == "until":
            return self.run_until(record, sql)
        if record.words[0] == "error":
            return self.expect_error(record, self.session.run(sql))
        outcome = self.run_with_restore(record, sql) if self.restores and is_job(sql) else self.session.run(sql)
        if outcome.code != 0:
            raise Mismatch(f"{record.sql}\nshould succeed, but exit code {outcome.code}:\n{outcome.messages}")
        for line in record.expected:
            if self.fill(line) not in outcome.messages:
                raise Mismatch(f"{record.sql}\nshould say: {line}\nbut says:\n{outcome.messages}")
        if is_definition(sql):
            self.session.remember(sql)
        elif is_table_from_query(sql):
            name = re.match(r"\s*CREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(\S+)", sql, re.IGNORECASE).group(1)
            self.session.remember(self.definition_of(sql, name))

    def definition_of(self, sql, name):
        """The plain definition of a table that was made from a query: its head, with the query's columns found by SHOW."""
        query = re.split(r"\bAS\s+(?=(?:SELECT|VALUES|WITH)\b)", sql, maxsplit=1, flags=re.IGNORECASE)[1]
        head = re.split(r"\bAS\s+(?=(?:SELECT|VALUES|WITH)\b)", sql, maxsplit=1, flags=re.IGNORECASE)[0]
        shown = self.session.run(f"CREATE VIEW shown_columns AS {query};\nDESCRIBE shown_columns")
        columns = ", ".join(
            f"`{dict(row)['name']}` {dict(row)['type']}{'' if dict(row)['null'] == 'TRUE' else ' NOT NULL'}" for row in shown.rows
        )
        after = head.split(name, 1)
        return f"{after[0]}{name} ({columns}){after[1]}"

    def run_with_restore(self, record, sql):
        """Kills the statement at a crash point, then runs it again: it must resume and finish."""
        point = self.points[zlib.crc32(f"{self.script.path}:{record.line}".encode()) % len(self.points)]
        script, lines = self.session.write_script([sql])
        outcome = self.session.run_script(script, lines[0], point)
        if not outcome.killed:
            return outcome
        self.reached.add(point)
        again = self.session.run_script(script, lines[0])
        if again.code != 0:
            again.messages = f"(after a kill at {point})\n{again.messages}"
        return again

    def run_until(self, record, sql):
        """Lets an unbounded statement run until so many lines or files are published below a folder, then ends it by SIGTERM."""
        folder, wanted = Path(self.fill(record.words[1])), int(record.words[2])
        count = count_files if "files" in record.words else count_lines
        script, _ = self.session.write_script([sql], name=zlib.crc32(sql.encode()))  # The same statement resumes.
        process = subprocess.Popen(
            self.session.command(script), env=self.session.environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        deadline = time.monotonic() + UNTIL_SECONDS
        while (found := count(folder)) < wanted and process.poll() is None and time.monotonic() < deadline:
            for due in [item for item in self.later if item[0] <= found]:
                self.later.remove(due)
                self.write_file(due[1])
            time.sleep(0.05)
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        try:
            messages = process.communicate(timeout=UNTIL_SECONDS)[1].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            process.kill()
            messages = process.communicate()[1].decode("utf-8", "replace") + "\n(did not end after SIGTERM)"
        found = count(folder)
        if process.returncode != 0 or found < wanted:
            raise Mismatch(f"{record.sql}\nexit code {process.returncode}, {found} of {wanted} published below {folder}:\n{messages}")

    def expect_error(self, record, outcome):
        if outcome.code == 0:
            raise Mismatch(f"{record.sql}\nshould fail, but succeeded\n{outcome.text}{outcome.messages}")
        pattern = self.fill(" ".join(record.words[1:]))
        missing = [] if re.search(pattern, outcome.messages, re.DOTALL) else [pattern]
        missing += [line for line in map(self.fill, record.expected) if line not in outcome.messages]
        if missing or outcome.code != 1:
            text = "\n".join(missing)
            raise Mismatch(f"{record.sql}\nexit code {outcome.code}; should say:\n{text}\nbut says:\n{outcome.messages}")

    def run_query(self, record, answer):
        outcome = answer or self.session.run(self.fill(record.sql))
        if outcome.code != 0:
            raise Mismatch(f"{record.sql}\nfailed with exit code {outcome.code}:\n{outcome.messages}")
        rows = fold_changelog(outcome.rows)
        lines = [" ".join(print_value(value) for _, value in row) for row in rows]
        for row in rows:
            if len(row) != len(record.words[0]):
                raise Mismatch(f"{record.sql}\n{len(row)} columns, the test says {record.words[0]}: {row}")
        expected = [self.fill(line) for line in record.expected]
        if "colnames" in record.words:
            names = " ".join(name for name, _ in rows[0]) if rows else ""
            if names != expected[0]:
                raise Mismatch(f"{record.sql}\ncolumn names are {names}, expected {expected[0]}")
            expected = expected[1:]
        if "rowsort" in record.words:
            lines, expected = sorted(lines), sorted(expected)
        if lines != expected:
            raise Mismatch(f"{record.sql}\n{difference(expected, lines)}")

    def run_explain(self, record, _):
        """The plan of the query contains the words of the record."""
        outcome = self.session.run("EXPLAIN " + self.fill(record.sql))
        if outcome.code != 0:
            raise Mismatch(f"EXPLAIN {record.sql}\nfailed with exit code {outcome.code}:\n{outcome.messages}")
        plan = "\n".join(value for row in outcome.rows for _, value in row)
        wanted = self.fill(" ".join(record.words))
        if wanted not in plan:
            raise Mismatch(f"EXPLAIN {record.sql}\nshould contain {wanted}:\n{plan}")

    def run_files(self, record, _):
        folder = Path(self.fill(" ".join(record.words)))
        found = sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() or p.name.startswith("."))
        stray = [name for name in found if not any(fnmatch.fnmatchcase(name, p) for p in record.expected)]
        missing = [p for p in record.expected if not any(fnmatch.fnmatchcase(name, p) for name in found)]
        if stray or missing:
            raise Mismatch(f"files below {folder}: not expected {stray}, no match for {missing}")

    def run_text(self, record, _):
        folder, pattern = Path(self.fill(record.words[0])), record.words[1]
        content = b"".join(p.read_bytes() for p in sorted(folder.glob(pattern)) if p.is_file() and p.name[0] not in "._")
        lines = content.decode("utf-8", "backslashreplace").split("\n")
        if lines and lines[-1] == "":
            lines.pop()
        expected = list(record.expected)
        if "rowsort" in record.words:
            lines, expected = sorted(lines), sorted(expected)
        lines = [line or "(empty)" for line in lines]
        if lines != expected:
            raise Mismatch(f"text of {folder}/{pattern}\n{difference(expected, lines)}")


def visible_files(folder):
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in paths if not any(part[0] in "._" for part in path.relative_to(folder).parts)]


def count_files(folder):
    return len(visible_files(folder))


def count_lines(folder):
    return sum(path.read_bytes().count(b"\n") for path in visible_files(folder))


def print_value(value):
    if value is None:
        return "NULL"
    if value is True or value is False:
        return str(value).upper()
    if isinstance(value, list):
        return print_nested(value)
    return value.replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r") if value else "(empty)"


def print_nested(value):
    """Arrays as [a,b], objects (lists of pairs) as {k:v}, nested NULL as null."""
    if value is None:
        return "null"
    if isinstance(value, list):
        if value and isinstance(value[0], tuple):
            return "{" + ",".join(f"{key}:{print_nested(item)}" for key, item in value) + "}"
        return "[" + ",".join(print_nested(item) for item in value) + "]"
    return print_value(value)


def difference(expected, lines):
    import difflib

    return "\n".join(difflib.unified_diff(expected, lines, "expected", "result", lineterm="", n=2))


def run_one(task):
    path, mode, keep, points = task
    folder = tempfile.mkdtemp(prefix="sluice-sql-")
    started = time.monotonic()
    try:
        run = FileRun(read_script(path, MODES), mode, folder, points)
        failures = run.run()
        return path, mode, failures, run.reached, time.monotonic() - started
    except ScriptError as error:
        return path, mode, [str(error)], set(), 0
    finally:
        if keep:
            print(f"{path} [{mode}]: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", action="append", choices=MODES, help="only this mode; may be repeated")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--crash-point", action="append", help="kill at this point only in the modes with a restore; may be repeated")
    parser.add_argument("--keep", action="store_true", help="keep the folders of the runs and print their names")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    files = arguments.files or sorted(HERE.glob("*.test"))
    points = arguments.crash_point or crash_points()
    tasks = [(str(path), mode, arguments.keep, points) for path in files for mode in arguments.mode or MODES]
    failed, reached = 0, set()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for path, mode, failures, points_reached, seconds in pool.map(run_one, tasks):
            reached |= points_reached
            failed += len(failures)
            print(f"{'FAIL' if failures else 'ok  '} {Path(path).name} [{mode}] {seconds:.1f} s", flush=True)
            for failure in failures:
                print(failure, flush=True)
    rules = set().union(*(read_script(str(path), MODES).rules for path in files)) if files else set()
    print(f"rules covered: {', '.join(sorted(rules, key=lambda r: [int(part) for part in r.split('.')])) or 'none'}")
    print(f"crash points reached: {', '.join(sorted(reached)) or 'none'}")
    print(f"{len(tasks)} runs, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
