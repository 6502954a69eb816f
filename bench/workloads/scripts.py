"""Workloads that are measured by scripts of their own, which print a line of JSON for each measurement."""
import json
import os
import subprocess
import sys

from harness import compare, measure, settings


def lines(options, script, *arguments):
    """The objects that a script of bench/ prints. Its Python has the peers."""
    path = settings.ROOT / "bench" / script
    if not path.exists():
        raise measure.Failed(f"{path} is missing")
    done = subprocess.run([options.python, path, *map(str, arguments)], capture_output=True, text=True,
                          env=dict(os.environ, SLUICE_BINARY=settings.SLUICE))
    if done.returncode != 0:
        raise measure.Failed(f"{script} ended with {done.returncode}\n{done.stdout[-1000:]}{done.stderr[-2000:]}")
    print(done.stdout, end="", file=sys.stderr, flush=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def figures(workload, name, found, leave_out=("workload", "engine", "files")):
    """A case of figures that are no run's time."""
    case = compare.Case(workload, name, found.get("rows", 0))
    case.own_wall_s = found.get("p50_ms", 0) / 1000
    case.extra = {key.replace("_", " "): value for key, value in found.items() if key not in leave_out and value is not None}
    return case
