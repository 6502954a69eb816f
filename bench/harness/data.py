"""The data sets: made once by build/bench/bench_generate, kept in a folder that tells set, form, count and seed."""
import os
import pathlib
import shutil
import subprocess

from harness import settings

SEED = 7
COLUMNS = {
    "orders": "order_id BIGINT, user_id INT, amount DOUBLE, note STRING, ts TIMESTAMP(3)",
    "bids": "auction BIGINT, bidder BIGINT, price BIGINT, channel STRING, url STRING, date_time TIMESTAMP(3), extra STRING",
    "wide": ("id BIGINT, i1 INT, i2 INT, i3 INT, l1 BIGINT, l2 BIGINT, d1 DOUBLE, d2 DOUBLE, m1 DECIMAL(10, 2), m2 DECIMAL(18, 4), "
             "s1 STRING, s2 STRING, s3 STRING, s4 STRING, s5 STRING, b1 BOOLEAN, b2 BOOLEAN, `day` DATE, t1 TIMESTAMP(3), t2 TIMESTAMP(3)"),
}
COLUMNS["skew"] = COLUMNS["orders"]


def names(name):
    """The column names of a set, in order."""
    return [column.strip().split()[0].strip("`") for column in COLUMNS[name].replace("(10, 2)", "").replace("(18, 4)", "").split(",")]


def make(options, name, form, rows=None):
    """The folder of a set as csv or json. Its files are read once, so that the page cache has them."""
    rows = rows or options.rows
    folder = options.data / f"{name}-{form}-{rows}-{SEED}"
    if not folder.exists():
        generator = settings.BUILD / "bench" / "bench_generate"
        if not generator.exists():
            raise SystemExit(f"{generator} is missing. Build it: ./dev build bench_programs")
        fresh = folder.with_suffix(".new")
        shutil.rmtree(fresh, ignore_errors=True)
        fresh.mkdir(parents=True)
        subprocess.run([generator, name, form, str(rows), str(SEED), fresh, "4"], check=True)
        os.rename(fresh, folder)
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            while file.read(1 << 22):
                pass
    return folder


def files(folder):
    return sorted(pathlib.Path(folder).iterdir())
