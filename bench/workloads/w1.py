"""W1: datagen -> blackhole."""
from harness import compare, limits, sluice

TITLE = "datagen → blackhole"
ROW_BYTES = 20  # BIGINT, INT, DOUBLE.


def script(rows):
    return (f"CREATE TABLE gen (id BIGINT, a INT, b DOUBLE) WITH ('connector'='datagen', 'number-of-rows'='{rows}', "
            "'rows-per-second'='1000000000');\nCREATE TABLE sink (id BIGINT, a INT, b DOUBLE) WITH ('connector'='blackhole');\n"
            "INSERT INTO sink SELECT id, a, b FROM gen;\n")


def run(options, flink):
    rows = options.rows * 10  # Less would measure the start.
    case = compare.Case("W1", TITLE + ", 3 random columns", rows)
    copy = limits.run("memory").get("memcpy")
    if copy:
        case.limit_name, case.limit_cpu_s = "memcpy of the columns", copy.cpu_for(rows * ROW_BYTES)
    compare.alternate(case, lambda: sluice.run(options, script(rows)), {}, options.repeats)
    if flink:
        fewer = options.flink_rows * 4
        compare.alternate(case, lambda: sluice.run(options, script(rows)),
                          {"flink": lambda: compare.scaled(flink.run(options, script(fewer)), rows / fewer)}, options.flink_repeats)
    case.note = "a blackhole shows no rows to check"
    return [case]
