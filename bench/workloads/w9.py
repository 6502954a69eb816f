"""W9: kill -9 and recover (bench/recovery.py)."""
from harness import limits
from workloads import scripts

TITLE = "kill and recover: first new committed row"
ALONE = True


def run(options, flink):
    restarts = 100 if options.repeats >= 5 else 20
    case = scripts.figures("W9", TITLE, scripts.lines(options, "recovery.py", "--restarts", restarts)[-1])
    file = limits.files_made(options.work, "each", 50, 1000, 1)
    if file:
        case.limit_name, case.limit_wall_s = "start of a program, one file made durable", limits.start()[0] + file.wall_for(1)
    return [case]
