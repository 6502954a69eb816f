"""W12: from the watermark passing a partition's end to its visible _SUCCESS (bench/commit_latency.py)."""
from harness import limits
from workloads import scripts

TITLE = "watermark to _SUCCESS"
ALONE = True


def run(options, flink):
    count = 40 if options.repeats >= 5 else 10
    cases = [scripts.figures("W12", f"{TITLE}, checkpoints each {interval:,} ms",
                             scripts.lines(options, "commit_latency.py", "--partitions", count, "--interval", interval)[-1])
             for interval in (10_000, 1_000)]
    file = limits.files_made(options.work, "each", 50, 1000, 1)
    for case in cases if file else []:
        case.limit_name, case.limit_wall_s = "a part file and a marker made durable", file.wall_for(2)
    return cases
