#!/usr/bin/env python3
# ctest: timeout=900 serial
"""Open partitions under a memory limit and 1,024 descriptors: 10,000 within 192 MiB, one file each; and killed and resumed. `./dev soak` holds 70,000."""
import os
import pathlib
import shutil
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from many_partitions import run_kills, run_many_partitions, run_measured  # noqa: E402

SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
PARTITIONS = 10_000
LIMIT_MIB = 192
LONG_TEXTS_MIB = 480
BUDGET_MIB = 48  # The rest is the program itself and its libraries, some 40 MiB, and what is on its way.


def test_rule_15_1_open_partitions_under_a_memory_limit():
    failed = False
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-partitions-"))
    for form in ("json", "csv", "parquet"):
        outcome = run_many_partitions(SLUICE, directory / form, PARTITIONS, 10 * PARTITIONS, form, LIMIT_MIB, BUDGET_MIB, 120)
        print(f"{form}: {PARTITIONS} partitions, {outcome.peak_mib:.0f} MiB, {outcome.seconds:.1f} s")
        for problem in outcome.problems:
            print(f"FAILED: rule 15.1, {form}: {problem}")
            failed = True
    if not failed:
        shutil.rmtree(directory)
    return failed


def test_kill_and_resume_with_many_partitions():
    failed = False
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-partitions-"))
    for form in ("csv", "parquet"):
        outcome = run_kills(SLUICE, directory / form, PARTITIONS, 2 * PARTITIONS, form, 3, 120)
        print(f"{form}: {PARTITIONS} partitions, 3 kills, {outcome.peak_mib:.0f} MiB, {outcome.seconds:.1f} s")
        for problem in outcome.problems:
            print(f"FAILED: kills, {form}: {problem}")
            failed = True
    if not failed:
        shutil.rmtree(directory)
    return failed


def test_row_groups_of_long_texts_under_a_memory_limit():
    """600 MB of texts that nothing compresses: two row groups of 128 MiB at a time. Copied at each doubling they held 687 MiB."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-long-texts-"))
    write = ("CREATE TABLE g (id BIGINT, s STRING) WITH ('connector'='datagen', 'number-of-rows'='600000', 'rows-per-second'='10000000', 'fields.s.length'='1000');"
             f"CREATE TABLE t (id BIGINT, s STRING) WITH ('connector'='filesystem', 'path'='{directory}/t', 'format'='parquet', 'parquet.compression'='UNCOMPRESSED');"
             "INSERT INTO t SELECT id, s FROM g;")
    environment = dict(os.environ, XDG_STATE_HOME=str(directory / "state"))
    code, log, peak_mib = run_measured([SLUICE, "run", "-e", write, "-D", "parallelism.default=2", "-D", "sluice.memory.limit=256 mb"], directory, environment, 120)
    print(f"long texts: {peak_mib:.0f} MiB")
    if code != 0 or peak_mib > LONG_TEXTS_MIB:
        print(f"FAILED: exit code {code}, {peak_mib:.0f} MiB of memory, the limit is {LONG_TEXTS_MIB}: {log[-1500:]}")
        return True
    shutil.rmtree(directory)
    return False


if __name__ == "__main__":
    sys.exit(sum([test_row_groups_of_long_texts_under_a_memory_limit(), test_rule_15_1_open_partitions_under_a_memory_limit(), test_kill_and_resume_with_many_partitions()]))
