#!/usr/bin/env python3
# ctest: timeout=180
"""Builds the example of a commit policy in a shared library as its head says, and runs it: the audit file, the markers, and what is refused."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(directory, *arguments):
    environment = dict(os.environ, XDG_STATE_HOME=str(directory / "state"))
    return subprocess.run([SLUICE, "run", *arguments], cwd=directory, env=environment, capture_output=True, text=True, timeout=60)


def main():
    example = ROOT / "examples" / "partition_policy"
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        subprocess.run(["c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", str(ROOT / "include"), str(example / "audit_policy.cc"), "-o",
                        str(directory / "libaudit_policy.so")], check=True)
        # The header is C as well.
        probe = directory / "probe.c"
        probe.write_text('#include "sluice/partition_hooks.h"\nvoid sluice_partition_hooks(sluice_partition_hooks_table* table) { table->version = 1; }\n')
        subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", str(ROOT / "include"), str(probe), "-o", str(directory / "libempty.so")],
                       check=True)
        done = run(directory, str(example / "orders.sql"))
        expect(done.returncode == 0, f"the example ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        expect("week=2020-W21" in done.stdout and "committed" in done.stdout, f"SHOW PARTITIONS tells the state:\n{done.stdout}")
        lines = sorted((directory / "audit.log").read_text().splitlines())
        expect(len(lines) == 2 and " rows 2 week=2020-W21" in lines[0] and " rows 1 week=2020-W22" in lines[1], f"the audit file: {lines}")
        marker = json.loads((directory / "orders-by-week" / "week=2020-W21" / "_SUCCESS").read_text())
        expect(marker["rows"] == 2 and len(marker["files"]) >= 1 and marker["partition"] == {"week": "2020-W21"}, f"the marker: {marker}")

        table = "CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) WITH ('connector'='filesystem','path'='t','format'='csv',"
        for options, message in [
            ("'sink.partition-commit.policy.kind'='custom','sink.partition-commit.policy.class'='./libempty.so'", "offers no partition commit policy"),
            ("'sink.partition-commit.policy.kind'='custom','sink.partition-commit.policy.class'='./libaudit_policy.so'", "it takes one parameter"),
            ("'sink.partition-commit.policy.kind'='custom','sink.partition-commit.policy.class'='com.example.Policy'", "cannot be loaded"),
        ]:
            done = run(directory, "-e", f"{table}{options}); INSERT INTO t VALUES (1, 'x')")
            expect(done.returncode == 1 and message in done.stderr + done.stdout, f"{options} is refused with '{message}':\n{done.stdout}{done.stderr}")
            expect(not (directory / "t").exists(), "nothing was created")
    print("the library policy and extractor work")


main()
