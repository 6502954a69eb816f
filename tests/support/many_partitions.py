"""Rows of many partitions in random order through one job under limits of memory and descriptors, for the test run and for long runs."""
import json
import os
import pathlib
import random
import resource
import subprocess
import time

DESCRIPTORS = 1024  # The usual soft limit of a process.


class Outcome:
    def __init__(self, problems, peak_mib, seconds, files=0):
        self.problems = problems
        self.peak_mib = peak_mib
        self.seconds = seconds
        self.files = files


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))


def run_measured(command, cwd, environment, seconds):
    """Runs a command; returns its exit code, its stderr and the most memory that it held, in MiB."""
    log = pathlib.Path(cwd) / "log"
    with log.open("w") as stderr:
        process = subprocess.Popen(command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=stderr, preexec_fn=limit_descriptors)
        deadline = time.monotonic() + seconds
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() > deadline:
                process.kill()
            time.sleep(0.05)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, log.read_text(), usage.ru_maxrss / 1024


def run_many_partitions(sluice, directory, partitions, rows, form, limit_mib, budget_mib, seconds):
    """Writes `rows` rows of `partitions` partitions. The whole process must stay below `limit_mib`; the job's own budget is `budget_mib`."""
    directory.mkdir(parents=True)
    environment = dict(os.environ, XDG_STATE_HOME=str(directory / "state"), TZ="UTC")
    table = f"CREATE TABLE t (id BIGINT, s STRING, k BIGINT) PARTITIONED BY (k) WITH ('connector'='filesystem', 'path'='{directory}/t', 'format'='{form}');"
    # 7919 is prime: neighbouring rows are of far apart partitions.
    write = (f"CREATE TABLE g (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='10000000', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='{rows}');"
             + table + f"INSERT INTO t SELECT id, 'value of row ' || CAST(id AS STRING), MOD(id * 7919, {partitions}) FROM g;")
    begin = time.monotonic()
    code, log, peak_mib = run_measured([str(sluice), "run", "-e", write, "-D", "execution.checkpointing.interval=1 h", "-D", f"sluice.memory.limit={budget_mib} mb"],
                                       directory, environment, seconds)
    taken = time.monotonic() - begin
    problems = []
    files = sum(1 for _ in (directory / "t").glob("*/part-*"))
    if files > min(partitions, rows):
        problems.append(f"{files} files in {partitions} partitions")
    if code != 0:
        problems.append(f"exit code {code}: {log[-1500:]}")
    if peak_mib > limit_mib:
        problems.append(f"{peak_mib:.0f} MiB of memory, the limit is {limit_mib}")
    done = subprocess.run([str(sluice), "run", "-e", table + "SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS ids, COUNT(DISTINCT k) AS ks FROM t", "-D", "execution.runtime-mode=batch",
                           "--output", "json"], capture_output=True, text=True, env=environment, timeout=seconds)
    wanted = {"n": rows, "ids": rows, "ks": min(partitions, rows)}
    if done.returncode != 0 or json.loads(done.stdout) != wanted:
        problems.append(f"read back {done.stdout.strip() or done.stderr[-1000:]} instead of {wanted}")
    hidden = [path for path in (directory / "t").glob("*/.part*")]
    if hidden:
        problems.append(f"{len(hidden)} hidden files are left, such as {hidden[0]}")
    return Outcome(problems, peak_mib, taken, files)


def run_kills(sluice, directory, partitions, rows, form, kills, seconds, latest_kill=1.5):
    """A stream into `partitions` partitions that is killed `kills` times, up to `latest_kill` seconds after its start, and resumed: every row once, and each restart publishes in bounded time.
    It lasts longer than all kills: one that has ended begins anew when it is run again."""
    directory.mkdir(parents=True)
    environment = dict(os.environ, XDG_STATE_HOME=str(directory / "state"), TZ="UTC")
    rate = int(rows // max(6, kills * latest_kill))
    script = directory / "job.sql"
    table = f"CREATE TABLE t (id BIGINT, s STRING, k BIGINT) PARTITIONED BY (k) WITH ('connector'='filesystem', 'path'='{directory}/t', 'format'='{form}');\n"
    script.write_text("SET 'execution.checkpointing.interval' = '1 s';\nSET 'sluice.memory.limit' = '256 mb';\n"
                      f"CREATE TABLE g (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='{rate}', 'fields.id.kind'='sequence', 'fields.id.start'='1', "
                      f"'fields.id.end'='{rows}');\n{table}"
                      f"INSERT INTO t SELECT id, 'value of row ' || CAST(id AS STRING), MOD(id * 7919, {partitions}) FROM g;\n")
    chance = random.Random(partitions)
    problems = []
    begin = time.monotonic()
    command = [str(sluice), "run", str(script)]
    for _ in range(kills):
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit_descriptors)
        time.sleep(chance.uniform(0.2, latest_kill))
        if process.poll() is not None:
            problems.append(f"the job ended with {process.returncode} before it was killed")
        process.kill()
        process.wait()
    code, log, peak_mib = run_measured(command, directory, environment, seconds)
    if code != 0:
        problems.append(f"exit code {code} after {kills} kills: {log[-1500:]}")
    done = subprocess.run([str(sluice), "run", "-e", table + "SELECT COUNT(*) AS n, COUNT(DISTINCT id) AS ids FROM t", "-D", "execution.runtime-mode=batch",
                           "--output", "json"], capture_output=True, text=True, env=environment, timeout=seconds)
    if done.returncode != 0 or json.loads(done.stdout) != {"n": rows, "ids": rows}:
        problems.append(f"read back {done.stdout.strip() or done.stderr[-1000:]} instead of {rows} rows")
    hidden = list((directory / "t").glob("*/.part*"))
    if hidden:
        problems.append(f"{len(hidden)} hidden files are left, such as {hidden[0]}")
    return Outcome(problems, peak_mib, time.monotonic() - begin, sum(1 for _ in (directory / "t").glob("*/part-*")))
