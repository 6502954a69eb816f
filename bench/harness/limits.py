"""The limit programs of bench/limits: what the machine allows without any engine."""
import functools
import json
import statistics

from harness import measure, settings


class Limit:
    """One line of a limit program: seconds for a count of rows or bytes."""

    def __init__(self, answer):
        self.name, self.unit, self.count = answer["limit"], answer["unit"], answer["count"]
        self.wall_s, self.cpu_s = answer["wall_s"], answer["cpu_s"]

    def cpu_for(self, count):
        return self.cpu_s * count / self.count

    def wall_for(self, count):
        return self.wall_s * count / self.count


@functools.lru_cache(maxsize=None)
def start():
    """Wall and processor seconds of a program that has our libraries and does nothing; (0, 0) when it is not built."""
    path = settings.BUILD / "bench" / "limit_start"
    if not path.exists():
        return 0.0, 0.0
    samples = [measure.run([path]) for _ in range(15)]
    return statistics.median(sample.wall_s for sample in samples), statistics.median(sample.cpu_s for sample in samples)


def files_made(work, durable, count, size, threads):
    """The Limit of making so many files of `size` bytes in folders of their own, durable "each" or "once"; None when it is not built. To be
    asked behind the measurements: ext4 remembers what was removed."""
    folder = work / f"file_rates_{count}_{durable}"
    folder.mkdir(exist_ok=True)  # A second workload gets what the first has measured.
    return run("file_rates", folder, count, size, threads).get(f"files durable {durable}")


@functools.lru_cache(maxsize=None)
def run(program, *arguments):
    """The lines of a program as Limits by name; empty when it is not built. The better of two runs counts."""
    path = settings.BUILD / "bench" / ("limit_" + program)
    if not path.exists():
        return {}
    best = {}
    for _ in range(1 if program == "file_rates" else 2):  # That one leaves its files behind.
        for line in measure.run([path, *arguments]).output.splitlines():
            limit = Limit(json.loads(line))
            if limit.name not in best or limit.cpu_s < best[limit.name].cpu_s:
                best[limit.name] = limit
    return best
