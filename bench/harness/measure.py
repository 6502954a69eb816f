"""What a process, with all it started, took: wall time, processor time, peak resident memory."""
import dataclasses
import os
import pathlib
import subprocess
import tempfile
import time


@dataclasses.dataclass
class Sample:
    """One run. `cpu_s` is that of the whole process tree; `peak_mib` is that of its largest process."""
    wall_s: float
    cpu_s: float
    peak_mib: float
    output: str = ""


class Failed(Exception):
    """A run ended with an error or a wrong result: its time counts for nothing."""


def put_aside(options, path):
    """Makes way for the next run without removing anything: ext4 looks past inodes that were freed within the last minutes one by one,
    and whoever makes files then pays for it (W11 half as slow again). They go with the working folder, at the end."""
    if path.exists():
        aside = options.work / "aside"
        aside.mkdir(exist_ok=True)
        path.rename(aside / f"{len(os.listdir(aside))}_{path.name}")


def run(command, environment=None, folder=None, stdin=None):
    """Runs a command to its end. The kernel adds up children that were waited for, so the tree is counted once all have ended."""
    with tempfile.TemporaryFile() as output:
        start = time.monotonic()
        process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=subprocess.STDOUT, cwd=folder, stdin=stdin,
                                   env=dict(os.environ, **(environment or {})))
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if process.returncode != 0:
        raise Failed(f"exit code {process.returncode} of {' '.join(map(str, command))[:300]}\n{text[-3000:]}")
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, text)


class RunningProcesses:
    """Processor time and peak memory of processes that run on, such as a cluster's, between `begin` and `end`."""

    def __init__(self, pids):
        self.pids = pids

    def cpu_s(self):
        ticks = 0
        for pid in self.pids:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
            ticks += sum(int(field) for field in fields[11:15])  # Own and of children that were waited for.
        return ticks / os.sysconf("SC_CLK_TCK")

    def peak_mib(self):
        total = 0
        for pid in self.pids:
            for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith("VmHWM:"):
                    total += int(line.split()[1]) / 1024
        return total

    def begin(self):
        for pid in self.pids:
            pathlib.Path(f"/proc/{pid}/clear_refs").write_text("5")  # Sets VmHWM back to what is resident now.
        self._cpu = self.cpu_s()

    def end(self):
        """Processor seconds since `begin`, and the sum of the peaks in MiB."""
        return self.cpu_s() - self._cpu, self.peak_mib()


def sync_files(folder):
    """Brings a peer's files to the disk, as ours are when a job has ended: the same promise, inside the peer's time."""
    start = time.monotonic()
    for directory, _, names in os.walk(folder):
        for path in [os.path.join(directory, name) for name in names] + [directory]:
            descriptor = os.open(path, os.O_RDONLY)
            os.fsync(descriptor)
            os.close(descriptor)
    return time.monotonic() - start
