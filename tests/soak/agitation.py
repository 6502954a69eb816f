"""Jobs that write tables of every format while something goes wrong again and again: disks, stores, clocks, and kills in between."""

import argparse
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("crash", "s3", "support"):
    sys.path.insert(0, str(ROOT / "tests" / folder))
from fault_proxy import Fault, FaultProxy, delay, drop, error_in_200, status, truncate  # noqa: E402
from faults import Faults  # noqa: E402
from sink_matrix import Disk, Failure, Matrix, Store, combinations  # noqa: E402

FORMS = ("csv", "json", "raw", "parquet", "avro", "orc", "debezium-json")


class Agitated(Matrix):
    """One episode after the other: `begin_episode` spoils something, `end_episode` lets it heal. Every fifth episode ends with a kill."""

    def __init__(self, place_type, seed, episodes, forms=FORMS, per_second=100):
        options = argparse.Namespace(seed=seed, patience=300)
        # Some three seconds an episode, and half as much to spare.
        super().__init__(place_type, combinations(forms), 5 * episodes * per_second, per_second, options)
        self.episodes = episodes
        self.number = 0

    def begin_episode(self):
        raise NotImplementedError

    def end_episode(self):
        pass

    def launch(self):
        self.number += 1
        self.process = self.start(self.script(1 + self.number // 2 % 2, self.per_second), None)

    def watch(self, seconds):
        """The job must go on, whatever happens."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return
        raise Failure(f"the job ended with {code}" + (": too few rows" if code == 0 else ""))

    def run(self):
        self.launch()
        self.watch(2)
        for episode in range(1, self.episodes + 1):
            self.begin_episode()
            self.watch(self.chance.uniform(0.2, 1.5))
            if episode % 5 == 0:
                self.process.kill()
                self.process.wait()
                self.kills["a random moment"] += 1
                self.end_episode()
                self.check()
                self.launch()
            self.end_episode()
            self.watch(self.chance.uniform(0.3, 1.5))
            if episode % 20 == 0:
                print(f"  {episode} of {self.episodes} episodes", flush=True)
        self.process.kill()
        self.process.wait()
        self.kills["the end"] += 1
        self.finish()


class FailingDisk(Agitated):
    """Calls of the disk under tables and state fail, or take long."""

    def __init__(self, seed, episodes, rules):
        super().__init__(Disk, seed, episodes)
        self.faults = Faults(self.directory)
        self.environment.update(self.faults.environment)
        self.rules = rules
        self.failures = 0

    def begin_episode(self):
        operation, outcome, milliseconds = self.chance.choice(self.rules)
        # The log is in the same directory: only tables and state are hit.
        prefix = self.chance.choice([f"{self.directory}/t_", f"{self.directory}/t_", f"{self.directory}/state"])
        permille = self.chance.choice([20, 200, 1000])
        self.faults.set(f"{operation} {prefix} {outcome} {permille} {milliseconds}")

    def end_episode(self):
        self.faults.clear()


class JumpingClock(Agitated):
    """The wall clock leaps forward and back, by up to two days, and stays where it is until the next leap."""

    def __init__(self, seed, episodes):
        super().__init__(Disk, seed, episodes)
        self.faults = Faults(self.directory)
        self.environment.update(self.faults.environment)

    def begin_episode(self):
        offset = self.chance.choice([1, -1]) * self.chance.choice([50, 5_000, 3_600_000, 172_800_000])
        self.faults.set(f"clock {offset}")


class FullDisk(Agitated):
    """A real file system of a few megabytes that others fill to the last byte. Needs the right to mount."""

    def __init__(self, seed, episodes):
        super().__init__(Disk, seed, episodes)
        self.mount = self.directory
        self.directory = self.mount / "small"
        self.directory.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=96m,nr_inodes=200k", "tmpfs", self.directory], check=True)
        self.place.directory = self.directory
        self.ballast = self.directory / "ballast"

    def begin_episode(self):
        with self.ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 65536)
            except OSError:
                pass

    def end_episode(self):
        self.ballast.unlink(missing_ok=True)

    def clean(self):
        subprocess.run(["umount", "-l", self.directory], check=True)
        self.directory = self.mount


class FailingStore(Agitated):
    """Requests are refused, lost before or after they were carried out, cut, late, or answered 200 with an error inside."""

    ACTIONS = [
        ("503", status(503, "SlowDown")),
        ("500", status(500, "InternalError")),
        ("lost", drop()),
        ("done and lost", drop(do_it=True)),
        ("late", delay(0.3)),
        ("cut", truncate),
    ]

    def __init__(self, seed, episodes):
        super().__init__(Store, seed, episodes, per_second=60)
        self.proxy = FaultProxy(self.place.bucket.address)
        self.place.arguments = [word.replace(self.place.bucket.address, self.proxy.address) for word in self.place.arguments]
        self.hits = 0
        self.active = []

    def begin_episode(self):
        operations = ["PutObject", "CreateMultipartUpload", "CompleteMultipartUpload", "ListObjectsV2", "GetObject", "HeadObject", "DeleteObject", "DeleteObjects"]
        for _ in range(6):
            _, action = self.chance.choice(self.ACTIONS)
            self.active.append(self.proxy.add(Fault(self.chance.choice(operations), action, times=self.chance.randint(1, 12), skip=self.chance.randint(0, 10))))
        if self.chance.random() < 0.3:
            self.active.append(self.proxy.add(Fault("CompleteMultipartUpload", error_in_200(do_it=self.chance.random() < 0.5), times=2)))
        if self.chance.random() < 0.2:
            self.active.append(self.proxy.add(Fault("*", status(503, "SlowDown"))))  # Away altogether.

    def end_episode(self):
        self.hits += sum(fault.hits for fault in self.active)
        self.active = []
        self.proxy.clear()

    def clean(self):
        self.proxy.close()


def play(job, what):
    """Plays a job to its end; answers (seconds, what was done in words, the job)."""
    begin = time.monotonic()
    try:
        job.run()
    except Failure as failure:
        raise Failure(f"{failure}\nfiles are in {job.directory}\n{job.log.read_text(errors='replace')[-3000:]}") from None
    finally:
        job.place.close()
        clean = getattr(job, "clean", None)
        if clean:
            clean()
    return time.monotonic() - begin, f"{what(job)}, {sum(job.kills.values())} kills", job
