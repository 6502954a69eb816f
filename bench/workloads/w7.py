"""W7: watching 100,000 small files (bench/watch.py)."""
from workloads import scripts

TITLE = "watch 100,000 small files"
ALONE = True


def run(options, flink):
    files = 100_000 if options.rows >= 1_000_000 else 5_000
    found = scripts.lines(options, "watch.py", "--json", "--files", files)[-1]
    case = scripts.figures("W7", f"watch {found['files']:,} files of 10 rows", found)
    case.note = f"{100 * found['watched_of_limit']:.0f} % of opening and reading each file"
    return [case]
