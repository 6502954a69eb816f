"""Runs statements in one engine and prints what they took as a line of JSON. The request is JSON on standard input.

Wall and processor time are those of the statements alone: not of the interpreter, the import or the connection.
"""
import json
import resource
import sys
import time


class DuckDb:
    def __init__(self, threads):
        import duckdb
        self.connection = duckdb.connect()
        self.connection.execute(f"SET threads = {threads}")

    def run(self, statement):
        return self.connection.execute(statement).fetchall()


class ChDb:
    def __init__(self, threads):
        from chdb import session
        self.session = session.Session()
        self.session.query(f"SET max_threads = {threads}")

    def run(self, statement):
        text = self.session.query(statement, "JSONCompactEachRow")
        return [json.loads(line) for line in str(text).splitlines() if line.startswith("[")]


class Polars:
    """A statement is a Python expression over `pl`, `rows` of which are kept when it gives a frame."""

    def __init__(self, threads):
        import os
        os.environ["POLARS_MAX_THREADS"] = str(threads)
        import polars
        self.polars = polars

    def run(self, statement):
        found = eval(statement, {"pl": self.polars})  # The driver's own text.
        return found.rows() if isinstance(found, self.polars.DataFrame) else []


class PyArrow:
    """A statement is a Python expression over `pa`, `ds`, `pc` and `csv`."""

    def __init__(self, threads):
        import pyarrow
        pyarrow.set_cpu_count(threads)
        pyarrow.set_io_thread_count(threads)
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.dataset
        self.names = {"pa": pyarrow, "pc": pyarrow.compute, "csv": pyarrow.csv, "ds": pyarrow.dataset}

    def run(self, statement):
        found = eval(statement, dict(self.names))
        return [list(row.values()) for row in found.to_pylist()] if hasattr(found, "to_pylist") else []


ENGINES = {"duckdb": DuckDb, "chdb": ChDb, "polars": Polars, "pyarrow": PyArrow}


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main():
    request = json.load(sys.stdin)
    engine = ENGINES[request["engine"]](request["threads"])
    cpu, start = processor_seconds(), time.monotonic()
    rows = []
    for statement in request["statements"]:
        rows = engine.run(statement)
    if request["output"]:
        from harness.measure import sync_files
        sync_files(request["output"])
    wall = time.monotonic() - start
    print(json.dumps({"wall_s": wall, "cpu_s": processor_seconds() - cpu, "rows": rows,
                      "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}, default=str))


if __name__ == "__main__":
    main()
