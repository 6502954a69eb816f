"""Ours and the peers in turn on the same data, and what comes of it."""
import dataclasses
import statistics
import sys

from harness import machine, measure


@dataclasses.dataclass
class Series:
    """Repeated runs of one engine."""
    samples: list = dataclasses.field(default_factory=list)

    def median(self, what):
        return statistics.median(getattr(sample, what) for sample in self.samples)

    def spread(self):
        """Largest over smallest wall time, less one."""
        times = [sample.wall_s for sample in self.samples]
        return max(times) / min(times) - 1 if min(times) > 0 else 0.0


@dataclasses.dataclass
class Case:
    """One line of the table. Figures of a Flink with fewer rows than ours are scaled to ours."""
    workload: str
    name: str
    rows: int = 0
    ours: Series = dataclasses.field(default_factory=Series)
    peers: dict = dataclasses.field(default_factory=dict)
    failures: dict = dataclasses.field(default_factory=dict)
    limit_name: str = ""
    limit_cpu_s: float = 0.0  # Processor seconds that the limit programs need for the same rows.
    limit_wall_s: float = 0.0
    own_wall_s: float = 0.0  # Of a case that has figures of a script in place of runs.
    load: float = 0.0
    note: str = ""
    extra: dict = dataclasses.field(default_factory=dict)

    def wall_ratio(self, peer):
        return self.peers[peer].median("wall_s") / self.ours.median("wall_s")

    def cpu_ratio(self, peer):
        return self.peers[peer].median("cpu_s") / max(self.ours.median("cpu_s"), 1e-6)

    def share(self):
        """The share of what the limit programs reach, or None."""
        if self.limit_cpu_s > 0:
            return self.limit_cpu_s / self.ours.median("cpu_s")
        if self.limit_wall_s > 0:
            return self.limit_wall_s / (self.own_wall_s or self.ours.median("wall_s"))
        return None


def reason(error):
    """The line of an engine's message that says what went wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [line for line in lines[1:] if "Error" in line or "Exception" in line or "wrong" in line]
    return (telling or lines)[-1 if not telling else 0][:160].replace("|", "/")


def alternate(case, ours, peers, repeats):
    """Runs ours, then each peer, then ours again and so on. `ours` and the values of `peers` are callables that give a Sample or raise
    Failed; a peer that fails is left out with its reason, ours failing ends the workload."""
    case.load = max(case.load, machine.load())
    for _ in range(repeats):
        case.ours.samples.append(ours())
        for name, run in peers.items():
            if name in case.failures:
                continue
            try:
                case.peers.setdefault(name, Series()).samples.append(run())
            except measure.Failed as error:
                case.failures[name] = reason(error)
                case.peers.pop(name, None)
                print(f"bench: {case.workload}: {name} fails: {error}", file=sys.stderr)
    return case


def scaled(sample, factor):
    return measure.Sample(sample.wall_s * factor, sample.cpu_s * factor, sample.peak_mib)
