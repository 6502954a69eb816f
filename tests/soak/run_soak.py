#!/usr/bin/env python3
# ctest: timeout=7200 manual
"""A long run: 10,000 open partitions within 256 MiB, then rounds of kills at random moments; every row once.

Usage: run_soak.py [--rounds N] [--minutes N] [--seed N] [--partitions N]
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from many_partitions import run_many_partitions  # noqa: E402

SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
LIMIT_MIB = 512
BUDGET_MIB = 256
ROWS = 2_000_000

JOB = """
SET 'execution.checkpointing.interval' = '200 ms';
SET 'execution.checkpointing.dir' = '{dir}/state';
CREATE TABLE g (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='200000', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='{rows}');
CREATE TABLE t_json (id BIGINT, k BIGINT) PARTITIONED BY (k) WITH ('connector'='filesystem', 'path'='{dir}/json', 'format'='json', 'sink.partition-commit.policy.kind'='success-file');
CREATE TABLE t_parquet (id BIGINT, k BIGINT) PARTITIONED BY (k) WITH ('connector'='filesystem', 'path'='{dir}/parquet', 'format'='parquet', 'sink.partition-commit.policy.kind'='success-file');
EXECUTE STATEMENT SET BEGIN
INSERT INTO t_json SELECT id, MOD(id, 7) FROM g;
INSERT INTO t_parquet SELECT id, MOD(id, 5) FROM g;
END;
"""
CHECK = """
CREATE TABLE t_json (id BIGINT, k BIGINT) PARTITIONED BY (k) WITH ('connector'='filesystem', 'path'='{dir}/json', 'format'='json');
CREATE TABLE t_parquet (id BIGINT, k BIGINT) PARTITIONED BY (k) WITH ('connector'='filesystem', 'path'='{dir}/parquet', 'format'='parquet');
SELECT 'json' AS f, COUNT(*) AS n, COUNT(DISTINCT id) AS ids FROM t_json UNION ALL SELECT 'parquet', COUNT(*), COUNT(DISTINCT id) FROM t_parquet
"""


def counts(directory):
    done = subprocess.run([SLUICE, "run", "-e", CHECK.format(dir=directory), "-D", "execution.runtime-mode=batch", "--output", "json"], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        return None, done.stderr
    return {row["f"]: (row["n"], row["ids"]) for row in map(json.loads, done.stdout.splitlines())}, ""


def round_of_kills(directory, chance):
    """One job, killed until it has come to its end. Returns what went wrong."""
    directory.mkdir(parents=True)
    script = directory / "job.sql"
    script.write_text(JOB.format(dir=directory, rows=ROWS))
    kills = 0
    while True:
        with (directory / "log").open("a") as log:
            job = subprocess.Popen([SLUICE, "run", str(script)], cwd=directory, stdout=log, stderr=log)
            try:
                job.wait(timeout=chance.uniform(0.2, 4))
            except subprocess.TimeoutExpired:
                job.send_signal(chance.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM]))
                job.wait(timeout=60)
                kills += 1
                continue
        if job.returncode != 0:
            return [f"exit code {job.returncode}: {(directory / 'log').read_text()[-1500:]}"], kills
        break
    found, error = counts(directory)
    problems = [] if found else [error]
    for form, (n, ids) in (found or {}).items():
        if n != ROWS or ids != ROWS:
            problems.append(f"{form}: {n} rows, {ids} distinct, instead of {ROWS}")
    hidden = list(directory.glob("*/k=*/.part*"))
    if hidden:
        problems.append(f"{len(hidden)} hidden files are left, such as {hidden[0]}")
    return problems, kills


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="jobs that are killed until they end (3)")
    parser.add_argument("--minutes", type=float, default=0, help="go on with rounds for so long")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--partitions", type=int, default=70_000)
    options = parser.parse_args()
    chance = random.Random(options.seed)
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-soak-"))
    print(f"seed {options.seed}, files in {directory}", flush=True)
    failed = False

    def tell(what, problems):
        nonlocal failed
        print(f"{what}: {'; '.join(problems) if problems else 'ok'}", flush=True)
        failed = failed or bool(problems)

    for form in ("json", "parquet"):
        outcome = run_many_partitions(SLUICE, directory / form, options.partitions, 5 * options.partitions, form, LIMIT_MIB, BUDGET_MIB, 1200)
        tell(f"{options.partitions} partitions of {form}, {outcome.peak_mib:.0f} MiB, {outcome.seconds:.0f} s", outcome.problems)
        if not outcome.problems:
            shutil.rmtree(directory / form)
    end = time.monotonic() + 60 * options.minutes
    number = 0
    while number < options.rounds or time.monotonic() < end:
        number += 1
        folder = directory / f"round{number}"
        problems, kills = round_of_kills(folder, chance)
        tell(f"round {number}, {kills} kills", problems)
        if not problems:
            shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
