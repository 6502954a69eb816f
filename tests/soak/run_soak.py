#!/usr/bin/env python3
# ctest: timeout=7200 manual
"""Long runs under load and faults. Each scenario writes its line of tests/RELIABILITY.md; the figures are kept in tests/soak/results.json.

Usage: run_soak.py [SCENARIO...] [--scale X] [--seed N]      without a name: all of them
       run_soak.py --list
"""
import argparse
import datetime
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import agitation  # noqa: E402
from agitation import FORMS, Failure, play  # noqa: E402
from broker_restarts import broker_restarts  # noqa: E402
from many_partitions import run_kills, run_many_partitions  # noqa: E402

SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
RESULTS = ROOT / "tests" / "soak" / "results.json"
REPORT = ROOT / "tests" / "RELIABILITY.md"
HEAD = """# Reliability: the last long runs

What `./dev soak` found when it was last run, scenario by scenario (`tests/soak/`). *Rows* are input rows times tables. They are counted past Sluice, by pyarrow, fastavro, DuckDB and plain text: *lost* are rows
that no visible file holds, *doubled* are rows that stand in two places. A run that finds one fails, and its line says so. The shorter forms of all of this
are part of every test run: `tests/crash`, `tests/s3`, `tests/visibility`, `tests/sim`.

| scenario | formats | storage | what was done to it | rows | lost | doubled | minutes | commit, day |
|---|---|---|---|---|---|---|---|---|
"""
TAIL = """
How it is done:

- **Kills** are SIGKILL of the shipped program, then the same command again, at parallelism 1 and 2 in turn.
- **Disk faults and clocks** come from a library put under the program (`tests/support/faulty_libc.c`), steered while it runs: calls on tables or state fail with ENOSPC, EIO or EDQUOT, at
  rates from 2 % to all of them, or take up to 300 ms; the wall clock leaps by up to two days, both ways. *really full* is a file system of 96 MB that others fill to the last byte.
- **Store faults** come from a proxy: refusals, lost requests, requests carried out whose answer is lost, cut and late answers, errors inside a 200.
- **Seeds** are whole jobs in the simulator (`tests/sim`): power losses, kills, stops, failing and slow disks, in an order drawn from the seed.
"""


class Outcome:
    def __init__(self, formats, storage, done, rows, seconds, lost=0, doubled=0):
        self.values = dict(formats=formats, storage=storage, done=done, rows=rows, seconds=round(seconds), lost=lost, doubled=doubled)


def agitated(job, storage, what):
    seconds, done, job = play(job, what)
    shutil.rmtree(job.directory, ignore_errors=True)
    return Outcome(", ".join(FORMS), storage, done, job.rows * len(job.tables), seconds)


def output_of(command, environment=None):
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, env=dict(os.environ, **(environment or {})))
    if done.returncode != 0:
        raise Failure((done.stdout + done.stderr)[-4000:])
    return done.stdout


# Scenarios: (scale, seed) -> Outcome.


def kills_with_a_broker(scale, seed):
    begin = time.monotonic()
    kills = max(1, int(200 * scale))
    text = output_of([ROOT / "tests/crash/run_crash.py", "--kills", kills, "--seed", seed])
    rows = int(re.search(r"all (\d+) rows are published once", text).group(1))
    rounds = text.count("killed at ")
    return Outcome("parquet, json, parquet merged", "local disks, Kafka", f"{rounds} kills, {rounds - kills} of them at crash points", 3 * rows, time.monotonic() - begin)


def matrix(scale, seed, names, storage, environment=None):
    begin = time.monotonic()
    rows = kills = 0
    times = max(1, int(6 * scale))
    for name in names:
        text = output_of([ROOT / f"tests/crash/{name}.py", "--kills", int(40 * scale), "--times", times, "--rows", int(8000 + 120_000 * scale), "--look-every", 3, "--patience", 600, "--seed", seed], environment)
        found = re.search(r"(\d+) tables on .*, (\d+) kills at .*, (\d+) rows in each once", text)
        kills += int(found.group(2))
        rows += int(found.group(1)) * int(found.group(3))
    return Outcome(", ".join(FORMS), storage, f"{kills} kills, each crash point {times} times for text and for containers", rows, time.monotonic() - begin)


def matrix_on_disks(scale, seed):
    return matrix(scale, seed, ("run_sink_matrix_text", "run_sink_matrix_container"), "local disks")


def matrix_on_a_store(scale, seed):
    return matrix(scale, seed, ("run_sink_matrix_store_text", "run_sink_matrix_store_container"), "S3 (versitygw)", {"SLUICE_S3_KIND": "versitygw"})


def restarts_of_the_broker(scale, seed):
    begin = time.monotonic()
    rows, restarts = broker_restarts(SLUICE, max(2, int(30 * scale)), random.Random(seed))
    return Outcome("parquet, json", "local disks, Kafka", f"{restarts} kills of the broker", 2 * rows, time.monotonic() - begin)


def full_disk(scale, seed):
    rules = [("write", "ENOSPC", 0), ("open", "ENOSPC", 0), ("write", "EDQUOT", 0)]
    return agitated(agitation.FailingDisk(seed, int(100 * scale), rules), "local disks", lambda job: f"{job.episodes} times full or over quota")


def really_full_disk(scale, seed):
    return agitated(agitation.FullDisk(seed, int(50 * scale)), "tmpfs of 96 MB", lambda job: f"{job.episodes} times really full")


def faulty_disk(scale, seed):
    rules = [("write", "EIO", 0), ("sync", "EIO", 0), ("rename", "EIO", 0), ("open", "EIO", 0)]
    return agitated(agitation.FailingDisk(seed, int(100 * scale), rules), "local disks", lambda job: f"{job.episodes} times with I/O errors")


def slow_disk(scale, seed):
    rules = [("sync", "delay", 300), ("write", "delay", 20), ("rename", "delay", 100)]
    return agitated(agitation.FailingDisk(seed, int(100 * scale), rules), "local disks", lambda job: f"{job.episodes} times slow")


def jumping_clock(scale, seed):
    return agitated(agitation.JumpingClock(seed, int(100 * scale)), "local disks", lambda job: f"{job.episodes} leaps of the clock")


def failing_store(scale, seed):
    os.environ["SLUICE_S3_KIND"] = "versitygw"
    return agitated(agitation.FailingStore(seed, int(100 * scale)), "S3 (versitygw)", lambda job: f"{job.hits} requests spoilt in {job.episodes} episodes")


def store_suite(scale, seed):
    begin = time.monotonic()
    text = output_of([ROOT / "tests/s3/run_s3.py"], {"SLUICE_S3_KIND": "versitygw"})
    return Outcome("csv, json, raw, parquet", "S3 (versitygw)", f"tests/s3: {text.splitlines()[-1]}", 0, time.monotonic() - begin)


def seeds_of(words, count):
    """Seeds from 1 on, in pieces: (seeds, crashes)."""
    program = os.environ.get("SLUICE_SIM", str(pathlib.Path(SLUICE).parent / "tests" / "tests_sim"))
    seeds = crashes = 0
    for first in range(1, count, 2000):
        done = subprocess.run([program, *words, "--seeds", "2000", "--from", str(first)], capture_output=True, text=True)
        if done.returncode != 0:
            raise Failure(f"after {seeds} seeds: {done.stdout[-2000:]}")
        seeds += 2000
        crashes += int(re.search(r"(\d+) crashes", done.stdout).group(1))
        if first % 10_000 == 1:
            print(f"  {seeds} seeds", flush=True)
    return seeds, crashes


def simulation_of_the_sink(scale, seed):
    begin = time.monotonic()
    seeds, crashes = seeds_of([], int(100_000 * scale))
    return Outcome("csv, json, parquet", "simulated disk", f"{seeds} seeds, {crashes} crashes", 0, time.monotonic() - begin)


def simulation_of_statements(scale, seed):
    begin = time.monotonic()
    seeds, crashes = seeds_of(["--statements"], int(50_000 * scale))
    return Outcome("csv, json, debezium-json", "simulated disk", f"{seeds} seeds, {crashes} crashes", 0, time.monotonic() - begin)


def many_partitions(scale, seed):
    begin = time.monotonic()
    count = int(70_000 * scale)
    forms = ("csv", "json", "parquet")
    kills = max(2, int(6 * scale))
    peaks = {"whole": [], "killed": []}
    directory = pathlib.Path(tempfile.mkdtemp(prefix="sluice-soak-"))
    for form in forms:
        whole = run_many_partitions(SLUICE, directory / form, count, 5 * count, form, 512, 256, 1200)
        # With a checkpoint a second; later kills meet all partitions open, and what is left of a restart before.
        killed = run_kills(SLUICE, directory / f"{form}-killed", count, 2 * count, form, kills, 1800, latest_kill=15)
        for name, outcome in (("whole", whole), ("killed", killed)):
            print(f"  {form}, {name}: {outcome.peak_mib:.0f} MiB, {outcome.files} files, {outcome.seconds:.0f} s", flush=True)
            if outcome.problems:
                raise Failure(f"{form}, {name}: " + "; ".join(outcome.problems))
            peaks[name].append(f"{outcome.peak_mib:.0f}")
    shutil.rmtree(directory)
    return Outcome(", ".join(forms), "local disks",
                   f"{count} open partitions within 512 MiB and 1,024 descriptors (peaks {', '.join(peaks['whole'])} MiB); with a checkpoint a second, {kills} kills each "
                   f"(peaks {', '.join(peaks['killed'])} MiB)", 7 * len(forms) * count, time.monotonic() - begin)


def fuzzing(scale, seed):
    """All targets of fuzz/ under ASan and UBSan. What is found is kept below build/fuzz/."""
    begin = time.monotonic()
    seconds = max(1, int(1200 * scale))
    done = subprocess.run([ROOT / "dev", "fuzz", "--seconds", str(seconds)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise Failure(done.stdout[-4000:])
    targets = re.split(r"fuzzing \w+ for", done.stdout)[1:]
    inputs = sum(int(re.findall(r"(\d+) runs", target)[-1]) for target in targets)
    return Outcome("every decoder, parser and message", "memory", f"{len(targets)} targets of fuzz/ for {seconds} s each under ASan and UBSan, {inputs:,} inputs", 0, time.monotonic() - begin)


SCENARIOS = [
    kills_with_a_broker, restarts_of_the_broker, matrix_on_disks, matrix_on_a_store, full_disk, really_full_disk, faulty_disk, slow_disk, jumping_clock, failing_store,
    store_suite, many_partitions, simulation_of_the_sink, simulation_of_statements, fuzzing,
]


def commit():
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    return os.environ.get("SLUICE_COMMIT") or git("rev-parse", "--short", "HEAD")


def write_report(results):
    lines = []
    for scenario in SCENARIOS:
        name = scenario.__name__.replace("_", " ")
        found = results.get(name)
        if not found:
            lines.append(f"| {name} | | | not run yet | | | | | |")
            continue
        rows = f"{found['rows']:,}" if found["rows"] else ""
        lines.append(
            f"| {name} | {found['formats']} | {found['storage']} | {found['done']} | {rows} | {found['lost']} | {found['doubled']} | {found['seconds'] / 60:.1f} | {found['commit']}, {found['day']} |"
        )
    REPORT.write_text(HEAD + "\n".join(lines) + "\n" + TAIL)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenarios", nargs="*", help="words of their names")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--scale", type=float, default=1.0, help="so many times the usual counts (1)")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--report", action="store_true", help="only write the table again")
    options = parser.parse_args()
    wanted = [scenario for scenario in SCENARIOS if not options.scenarios or any(word in scenario.__name__ for word in options.scenarios)]
    if options.list:
        print("\n".join(scenario.__name__ for scenario in SCENARIOS))
        return 0
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    if options.report:
        write_report(results)
        return 0
    failed = False
    for scenario in wanted:
        name = scenario.__name__.replace("_", " ")
        print(f"{name}, seed {options.seed}", flush=True)
        begin = time.monotonic()
        try:
            values = scenario(options.scale, options.seed).values
        except Failure as failure:
            failed = True
            print(f"FAILED  {name}: {failure}", flush=True)
            values = dict(formats="", storage="", done=f"FAILED, seed {options.seed}: {str(failure).splitlines()[0][:160]}", rows=0, seconds=time.monotonic() - begin, lost="?", doubled="?")
        values.update(commit=commit(), day=datetime.date.today().isoformat())
        results[name] = values
        RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        write_report(results)
        print(f"{name}: {values['done']}, {values['seconds']:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
