#!/usr/bin/env python3
# ctest: timeout=240
"""A watched directory whose files are moved (or deleted) when they are done, killed at every crash point and at random moments.

Files keep coming while the job runs. After each kill: every visible row is true and there once, and every file is in exactly one place.
At the end all rows are published once and the directory is empty.
"""

import argparse
import collections
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
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
ROWS_PER_FILE = 5
POINTS = ["source.before_done", "source.between_done", "source.after_done", "checkpoint.before_metadata_rename",
          "checkpoint.after_metadata_rename", "checkpoint.before_old_delete"]

JOB = """
SET 'execution.checkpointing.interval' = '60 ms';
SET 'execution.checkpointing.dir' = '{dir}/state';
CREATE TABLE incoming (id INT, note STRING, dt STRING) PARTITIONED BY (dt) WITH ('connector'='filesystem', 'path'='{dir}/in', 'format'='csv',
  'source.monitor-interval'='50 ms', 'source.watch.mode'='{mode}', 'source.file.when-done'='{action}'{move_to});
CREATE TABLE copies (id INT, note STRING, dt STRING) WITH ('connector'='filesystem', 'path'='{dir}/out', 'format'='csv');
INSERT INTO copies SELECT * FROM incoming;
"""


class Failure(Exception):
    pass


class World:
    def __init__(self, directory, action, mode):
        self.directory, self.action = directory, action
        self.files = 0
        (directory / "in").mkdir(parents=True)
        move_to = f", 'source.file.move-to'='{directory}/done'" if action == "move" else ""
        self.script = directory / "job.sql"
        self.script.write_text(JOB.format(dir=directory, mode=mode, action=action, move_to=move_to))

    def produce(self, count):
        for _ in range(count):
            folder = self.directory / "in" / f"dt=d{self.files % 3}"
            folder.mkdir(exist_ok=True)
            hidden = folder / f".f{self.files}"
            hidden.write_text("".join(f"{self.files * ROWS_PER_FILE + row},row\n" for row in range(ROWS_PER_FILE)))
            hidden.rename(folder / f"f{self.files}")
            self.files += 1

    def start(self, crash_point=None):
        environment = dict(os.environ, XDG_STATE_HOME=str(self.directory / "xdg"))
        if crash_point:
            environment["SLUICE_CRASH_POINT"] = crash_point
        log = open(self.directory / "log", "a", encoding="utf-8")
        return subprocess.Popen([SLUICE, "run", str(self.script)], env=environment, stdout=log, stderr=log)

    def names(self, folder):
        return {path.name for path in (self.directory / folder).rglob("f*") if path.is_file()}

    def check(self, complete=False):
        rows = collections.Counter()
        for path in (self.directory / "out").glob("part-*"):
            for line in path.read_text().splitlines():
                number, note, dt = line.split(",")
                if note != "row" or dt != f"d{int(number) // ROWS_PER_FILE % 3}":
                    raise Failure(f"a row that nobody wrote: {line}")
                rows[int(number)] += 1
        doubled = [number for number, count in rows.items() if count > 1]
        if doubled:
            raise Failure(f"rows that are there twice: {doubled[:10]}")
        waiting, done = self.names("in"), self.names("done")
        if waiting & done:
            raise Failure(f"files in both places: {sorted(waiting & done)[:10]}")
        if self.action == "move" and len(waiting | done) != self.files:
            raise Failure(f"{self.files - len(waiting | done)} files are lost")
        # What is gone from the directory is in a checkpoint; its rows may be published a moment later, but never lost.
        if complete:
            if len(rows) != self.files * ROWS_PER_FILE:
                raise Failure(f"{len(rows)} of {self.files * ROWS_PER_FILE} rows")
            if waiting:
                raise Failure(f"{len(waiting)} files were left behind: {sorted(waiting)[:10]}")
        return len(rows)


def run(directory, action, mode, kills, chance):
    world = World(directory, action, mode)
    rounds = POINTS + [None] * kills
    chance.shuffle(rounds)
    for point in rounds:
        job = world.start(f"{point}:{chance.randint(1, 2)}" if point else None)
        end = time.time() + (20 if point else chance.uniform(0.1, 0.8))
        while job.poll() is None and time.time() < end:
            world.produce(chance.randint(1, 6))
            time.sleep(0.03)
        if job.poll() is None:
            job.kill()
            job.wait()
            if point:
                raise Failure(f"crash point {point} was not reached")
        elif job.returncode != -signal.SIGKILL:
            raise Failure(f"the job ended with {job.returncode} instead of being killed at {point}, see {directory}/log")
        world.check()
    world.produce(5)
    job = world.start()
    end = time.time() + 30
    while time.time() < end:
        time.sleep(0.2)
        if job.poll() is not None:
            raise Failure(f"the job ended by itself with {job.returncode}, see {directory}/log")
        if world.check() == world.files * ROWS_PER_FILE and not world.names("in"):
            break
    job.send_signal(signal.SIGTERM)
    if job.wait(15) != 0:
        raise Failure(f"SIGTERM: exit {job.returncode}, see {directory}/log")
    world.check(complete=True)
    print(f"{action}, {mode}: {world.files} files, {len(rounds)} kills, every row once and no file left")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.randrange(1 << 30)
    print(f"seed {seed}", flush=True)
    chance = random.Random(seed)
    base = pathlib.Path(tempfile.mkdtemp(prefix="sluice-watch-"))
    try:
        for action, mode in (("move", "auto"), ("delete", "listing")):
            run(base / action, action, mode, options.kills, chance)
    except Failure as failure:
        print(f"FAILED (seed {seed}, files in {base}): {failure}")
        sys.exit(1)
    shutil.rmtree(base)


if __name__ == "__main__":
    main()
