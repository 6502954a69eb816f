"""W9: kill -9 and recover (bench/recovery.py)."""
from workloads import scripts

TITLE = "kill and recover: first new committed row"
ALONE = True


def run(options, flink):
    restarts = 100 if options.repeats >= 5 else 20
    return [scripts.figures("W9", TITLE, scripts.lines(options, "recovery.py", "--restarts", restarts)[-1])]
