#!/usr/bin/env python3
"""Runs the recorded cases of the peer (tests/data/golden) and compares rows, errors, listings and files.

  run_golden.py [--jobs N] [--keep] [CASE…]

Deliberate differences stand in differences.md; one that no longer shows is a failure too, so that the list stays true.
"""
# ctest: timeout=600

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
GOLDEN = HERE.parent / "data" / "golden"
sys.path.insert(0, str(HERE.parent / "support"))
sys.path.insert(0, str(HERE))
from golden_case import expected_columns, expected_error, expected_rows, read_case  # noqa: E402
from golden_files import compare_files, compare_listing  # noqa: E402
from printed_rows import parse_csv, printed_rows  # noqa: E402
from sluice_session import Session, is_definition, is_table_from_query  # noqa: E402

BINARY = os.environ.get("SLUICE_BINARY", str(HERE.parent.parent / "build" / "sluice"))
CASES = [
    "functions", "types_csv", "types_json", "types_json_iso", "types_parquet", "types_parquet_int64",
    "types_parquet_shanghai", "types_orc", "types_avro", "types_avro_legacy", "types_raw", "refused_csv", "refused_json",
    "refused_parquet", "refused_orc", "refused_avro", "refused_avro_modern", "csv_options", "json_options",
    "partitions_special", "insert_modes", "streaming_names", "streaming_json", "rolling", "commit", "compaction", "metadata", "monitor",
    "print_datagen", "explain", "errors", "changelog",
]  # fmt: skip
ORDERED = re.compile(r"\bORDER BY\b", re.IGNORECASE)


class CaseRun:
    """One case in its own folder, which stands for /data/CASE."""

    def __init__(self, case, folder, differences):
        self.case, self.folder = case, Path(folder)
        self.data = self.folder / "data" / case
        self.data.mkdir(parents=True)
        settings = {"parallelism.default": 1, "table.local-time-zone": "UTC"}
        self.session = Session(BINARY, self.folder / "session", settings, output="csv")
        self.differences = differences
        self.seen = set()
        self.failures = []
        self.refused = {}  # Tables that ours refuses when they are defined: name and message.
        self.jobs = []
        self.printed = ""

    def ours(self, text):
        return text.replace(f"/data/{self.case}", str(self.data))

    def theirs(self, text):
        return text.replace(str(self.data), f"/data/{self.case}")

    def run(self):
        steps = read_case(GOLDEN / self.case)
        nowait = False
        at = 0
        while at < len(steps):
            step = steps[at]
            queries = [step] if step.kind == "sql" else []
            while is_query(step) and at + len(queries) < len(steps) and is_query(steps[at + len(queries)]):
                queries.append(steps[at + len(queries)])
            at += max(1, len(queries))
            if len(queries) > 1:
                outcomes = self.session.run_batch([self.ours(query.text) for query in queries])
                for query, outcome in zip(queries, outcomes):
                    self.compare(query, outcome)
                if self.case == "functions":
                    self.compare_types(queries)
            else:
                nowait = self.run_step(step, nowait)
        self.end_jobs()
        for name, problem in compare_files(GOLDEN / self.case, self.data):
            self.check(f"file {name}", problem)
        for statement in self.differences:
            if statement not in self.seen:
                self.failures.append(f"{self.case}: `{statement}` is listed in differences.md, but no difference showed")
        return self.failures

    def compare_types(self, queries):
        """Types and nullability of the results, through a view of each query."""
        good = [query for query in queries if expected_columns(query.answer)]
        views = [f"CREATE VIEW view_{at} AS {query.text.rstrip(';')};\nDESCRIBE view_{at}" for at, query in enumerate(good)]
        for query, outcome in zip(good, self.session.run_batch(views)):
            if outcome.code != 0:
                self.check("type of " + query.text, outcome.messages)
                continue
            described = [[value for value, _ in record] for record in parse_csv(outcome.text)[1:]]
            ours = ", ".join(f"{row[0]} {row[1]}{' NOT NULL' if row[2] == 'FALSE' else ''}" for row in described).replace("`", "")
            theirs = summary_types(expected_columns(query.answer))
            self.check("type of " + query.text, None if ours == theirs else f"theirs {theirs}, ours {ours}")

    def run_step(self, step, nowait):
        """Runs one step; answers whether the next statement is not waited for."""
        if step.kind == "sql":
            self.run_sql(step, nowait)
        elif step.kind == "sh":
            self.run_shell(step)
        elif step.kind == "sleep":
            time.sleep(float(step.text))
        elif step.kind == "tree":
            self.check("files " + step.text, compare_listing(self.data, step.answer))
        elif step.kind == "cancel":
            self.end_jobs()
        return step.kind == "nowait"

    def end_jobs(self):
        for process in self.jobs:
            if process.poll() is None:
                process.terminate()
        for process in self.jobs:
            try:
                process.communicate(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                self.failures.append(f"{self.case}: a job did not end within 30 s of SIGTERM")
        self.jobs = []

    def run_sql(self, step, nowait):
        sql = self.ours(step.text)
        if nowait:
            script, _ = self.session.write_script([sql])
            self.jobs.append(
                subprocess.Popen(self.session.command(script), env=self.session.environment, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
            )
            return
        outcome = self.session.run(sql)
        if re.match(r"INSERT INTO p\d? ", step.text):
            self.printed += outcome.text + outcome.messages
        self.compare(step, outcome)
        if outcome.code == 0 and is_definition(sql):
            self.session.remember(sql)
        elif outcome.code == 0 and is_table_from_query(sql):
            head = re.split(r"\bAS\s+(?=SELECT)", sql, maxsplit=1)[0]
            self.session.remember(head.replace("TABLE c ", "TABLE c (c_one INT NOT NULL, c_two CHAR(3) NOT NULL) ", 1))

    def compare(self, step, outcome):
        self.check(step.text, self.compare_answer(step, outcome.code, self.theirs(outcome.text), self.theirs(outcome.messages)))

    def compare_answer(self, step, code, output, messages):
        errors = expected_error(step.answer)
        if errors is None and code != 0 and (table := re.match(r"CREATE TABLE (\w+) ", step.text)):
            self.refused[table.group(1)] = messages  # Options are checked at CREATE: the use below must fail likewise.
            return None
        if errors is not None:
            for table, refusal in self.refused.items():
                if re.search(rf"\b(FROM|INTO) {table}\b", step.text):
                    messages = refusal
            if code == 0:
                return f"should fail with: {errors[-1]}\nbut succeeds:\n{output[:500]}"
            return compare_words(errors, messages)
        if code != 0:
            return f"should succeed with:\n" + "\n".join(step.answer[:6]) + f"\nbut fails:\n{messages}"
        expected = expected_rows(step.answer)
        if expected is None or "job id" in (step.answer[0] if step.answer else ""):
            return None
        rows = printed_rows(output)
        if not ORDERED.search(step.text) and not re.match(r"SHOW|DESC", step.text):
            expected, rows = sorted(expected), sorted(rows)
        if rows == expected:
            return None
        return "rows differ\n  theirs: " + "\n          ".join(expected) + "\n  ours:   " + "\n          ".join(rows)

    def run_shell(self, step):
        if "SLUICE_SERVICES_DIR" in step.text:
            if "tail" not in step.text:
                return
            # Which subtask prints a row is chance, and the peer's log has each line of the changelog twice.
            step.answer = sorted({re.sub(r"(^|:)\d> ", r"\1N> ", line) for line in step.answer})
            printed = [line for line in self.printed.split("\n") if re.match(r"(\w+(:\d)?> |\d> )?[+-][IUD]\[", line)]
            output = "\n".join(sorted({re.sub(r"(^|:)\d> ", r"\1N> ", line) for line in printed}))
        else:
            done = subprocess.run(["bash", "-c", self.ours(step.text)], capture_output=True, cwd=self.folder)
            output = (done.stdout + done.stderr).decode("utf-8", "backslashreplace")
        if re.match(r"(mkdir|printf|rm|sleep 1; printf)", step.text) and not output:
            return
        expected, found = sorted(line for line in step.answer if line and not line.startswith("-- ")), sorted(filter(None, self.theirs(output).split("\n")))
        problem = None
        if expected != found:
            problem = "output differs\n  theirs: " + "\n          ".join(expected) + "\n  ours:   " + "\n          ".join(found)
        self.check("$ " + step.text, problem)

    def check(self, name, problem):
        """Notes a difference, unless it is a deliberate one that says what was found."""
        if problem is None:
            return
        for statement, ours in self.differences.items():
            if name.startswith(statement) and ours in problem.replace("\n", "↵") + problem:
                self.seen.add(statement)
                return
        self.failures.append(f"{self.case}: {name}\n    " + problem.replace("\n", "\n    "))


def summary_types(columns):
    """The gateway's names of types as DESCRIBE prints them."""
    for long, short in (
        (r"VARCHAR\(max\)", "STRING"), (r"VARBINARY\(max\)", "BYTES"), (r"INTEGER", "INT"),
        (r"(TIME|TIMESTAMP)_WITHOUT_TIME_ZONE", r"\1"), (r"TIMESTAMP_WITH_LOCAL_TIME_ZONE", "TIMESTAMP_LTZ"),
        ("INTERVAL_DAY_TIME", "INTERVAL DAY TO SECOND(3)"), ("INTERVAL_YEAR_MONTH", "INTERVAL YEAR TO MONTH"),
    ):  # fmt: skip
        columns = re.sub(long, short, columns)
    return columns


def is_query(step):
    return step.kind == "sql" and bool(re.match(r"(SELECT|SHOW|DESC|DESCRIBE|EXPLAIN)\b", step.text))


def compare_words(errors, messages):
    """Equal when one sentence of the chain, its class names and positions left out, stands in ours."""
    flat = plain_words(messages)
    for error in errors:
        for sentence in re.split(r"(?<=[a-z'\])])[.:] ", error):
            words = plain_words(sentence)
            if len(words) >= 16 and words in flat and not words.startswith(("unable to create a", "sql parse failed")):
                return None
    return f"other words\n  theirs: {errors[-1]}\n  ours:   {messages.strip()}"


def plain_words(text):
    text = re.sub(r"From line \d+, column \d+ to line \d+, column \d+: |at line \d+, column \d+", "", text)
    text = re.sub(r"SQL validation failed\.|SQL parse failed\.", "", text)
    return re.sub(r"\s+", " ", text.replace("`", "'")).strip().rstrip(".").lower()


def read_differences():
    """{case: {start of the statement: what ours says}} from the tables of differences.md."""
    found = {}
    case = None
    for line in (HERE / "differences.md").read_text(encoding="utf-8").split("\n"):
        if line.startswith("## "):
            case = line[3:].strip()
        match = re.match(r"\| `` (.*?) `` \| `` (.*?) `` \|", line)
        if match and case:
            found.setdefault(case, {})[match.group(1).replace("\\|", "|")] = match.group(2).replace("\\|", "|")
    return found


def run_one(task):
    case, differences, keep = task
    folder = tempfile.mkdtemp(prefix="sluice-golden-")
    started = time.monotonic()
    try:
        return case, CaseRun(case, folder, differences).run(), time.monotonic() - started
    finally:
        if keep:
            print(f"{case}: {folder}", file=sys.stderr)
        else:
            shutil.rmtree(folder, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--keep", action="store_true", help="keep the folders of the runs and print their names")
    parser.add_argument("cases", nargs="*")
    arguments = parser.parse_args()
    differences = read_differences()
    slow_first = ["streaming_names", "streaming_json", "compaction", "commit", "monitor", "rolling"]
    cases = arguments.cases or sorted(CASES, key=lambda case: (case not in slow_first, case))
    failed = 0
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for case, failures, seconds in pool.map(run_one, [(c, differences.get(c, {}), arguments.keep) for c in cases]):
            failed += len(failures)
            print(f"{'FAIL' if failures else 'ok  '} {case} {seconds:.1f} s, {len(failures)} differences", flush=True)
            for failure in failures:
                print(failure, flush=True)
    print(f"{len(cases)} cases, {failed} differences that are not listed, {sum(map(len, differences.values()))} listed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
