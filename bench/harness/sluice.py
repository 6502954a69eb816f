"""Runs of our own program."""
import json

from harness import measure, settings


def run(options, sql, *arguments):
    """Runs a script in a process of its own and measures all of it, its start too."""
    script = options.work / "job.sql"
    script.write_text(f"SET 'parallelism.default' = '{settings.PARALLELISM}';\n" + sql)
    return measure.run([settings.SLUICE, "run", "--fresh", *arguments, script])


def query(options, sql):
    """Like run, of a script that ends in a SELECT; gives its rows too, as lists of values."""
    sample = run(options, "SET 'execution.runtime-mode' = 'batch';\n" + sql, "-o", "json", "--log-level", "error")
    rows = [list(json.loads(line).values()) for line in sample.output.splitlines() if line.startswith("{")]
    return sample, rows
