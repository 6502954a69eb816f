"""The limit programs of bench/limits: what the machine allows without any engine."""
import functools
import json

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
def run(program, *arguments):
    """The lines of a program as Limits by name; empty when it is not built. Each is run once and the better of two counts."""
    path = settings.BUILD / "bench" / ("limit_" + program)
    if not path.exists():
        return {}
    best = {}
    for _ in range(2):
        for line in measure.run([path, *arguments]).output.splitlines():
            limit = Limit(json.loads(line))
            if limit.name not in best or limit.cpu_s < best[limit.name].cpu_s:
                best[limit.name] = limit
    return best
