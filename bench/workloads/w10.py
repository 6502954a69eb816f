"""W10: start-up and footprint: SELECT 1 as a whole process."""
from harness import compare, measure, peers, settings

TITLE = "start-up: SELECT 1"


def run(options, flink):
    case = compare.Case("W10", TITLE)
    floor = settings.BUILD / "bench" / "limit_start"
    runs = max(options.repeats, 15)
    if floor.exists():
        samples = compare.Series([measure.run([floor]) for _ in range(runs)])
        case.limit_name, case.limit_wall_s = "program of the same libraries that does nothing", samples.median("wall_s")
        case.extra["floor MiB"] = samples.median("peak_mib")
    others = {engine: (lambda engine=engine: peers.started(options, engine)) for engine in ("duckdb", "chdb", "polars") if options.wants(engine)}
    compare.alternate(case, lambda: measure.run([settings.SLUICE, "run", "-e", "SELECT 1"]), {}, runs)
    compare.alternate(case, lambda: measure.run([settings.SLUICE, "run", "-e", "SELECT 1"]), others, min(options.repeats, 3))
    case.note = "peers: a Python process that imports the engine and runs it"
    return [case]
