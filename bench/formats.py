#!/usr/bin/env python3
"""Decoding and encoding of each format on one thread, beside limits and other libraries; writes bench/FORMATS.md.

  ./dev bench formats

Ours (build/bench/formats_bench) and the libraries take turns on the same rows: ours, theirs, ours, theirs. Every figure is the median
of the turns, with the spread (largest over smallest, less one).
"""
import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from harness import machine, peers, settings

PROGRAM = settings.BUILD / "bench" / "formats_bench"
PEER_MAIN = settings.ROOT / "bench" / "formats_peers.py"
# Line of the table, our benchmark, the peers' figures (rows of eight columns unless the name says otherwise), and the floors.
LINES = [
    ("csv decode, 8 columns with types", "BM_CsvDecode8", "csv_decode", {"pyarrow": 2.0, "duckdb": 1.0}),
    ("csv decode, texts quoted", "BM_CsvDecode8Quoted", None, {}),
    ("csv decode, 2 of 8", "BM_CsvDecode2Of8", None, {}),
    ("csv encode", "BM_CsvEncode8", "csv_encode", {"pyarrow": 3.0, "duckdb": 3.0}),
    ("json decode, 8 columns", "BM_JsonDecode8", "json_decode", {"duckdb": 2.0}),
    ("json decode, 3 fields", "BM_JsonDecode3", None, {"simdjson": 0.6}),
    ("json decode, 3 fields, messages", "BM_JsonMessages3", None, {"simdjson": 0.6}),
    ("json encode", "BM_JsonEncode8", "json_encode", {"duckdb": 3.0}),
    ("avro decode", "BM_BulkRead/avro_8", "avro_decode", {"fastavro": 20.0}),
    ("avro encode", "BM_BulkWrite/avro_8", "avro_encode", {}),
    ("parquet read", "BM_BulkRead/parquet_8", "parquet_read", {}),
    ("parquet write", "BM_BulkWrite/parquet_8", "parquet_write", {"pyarrow": 0.9}),
    ("orc read", "BM_BulkRead/orc_8", "orc_read", {}),
    ("orc write", "BM_BulkWrite/orc_8", "orc_write", {}),
    ("raw decode, 1 text", "BM_TextDecode/raw", None, {}),
    ("raw encode, 1 text", "BM_TextEncode/raw", None, {}),
    ("debezium-json decode", "BM_TextDecode/debezium", None, {}),
    ("debezium-json encode", "BM_TextEncode/debezium", None, {}),
]
PEERS = ("pyarrow", "duckdb", "polars", "fastavro")


def ours(environment, pattern, seconds="0.3"):
    """Rows and bytes a second of processor time of each benchmark that matches."""
    done = subprocess.run([PROGRAM, f"--benchmark_filter={pattern}", f"--benchmark_min_time={seconds}", "--benchmark_format=json"],
                          capture_output=True, text=True, env=environment, check=True)
    result = {}
    for one in json.loads(done.stdout)["benchmarks"]:
        if one.get("error_occurred"):
            raise SystemExit(f"{one['name']}: {one['error_message']}")
        result[one["name"]] = {"rows": one.get("rows", 0.0), "bytes": one.get("bytes_per_second", 0.0)}
    return result


def theirs(python, folder, libraries):
    """{"csv_decode": {"pyarrow": rows a second}, …}"""
    done = subprocess.run([python, PEER_MAIN, folder, *libraries], capture_output=True, text=True, env=dict(os.environ, POLARS_MAX_THREADS="1"))
    if done.returncode != 0:
        raise SystemExit(done.stderr[-3000:])
    return json.loads(done.stdout.splitlines()[-1])


class Figures:
    def __init__(self):
        self.values = {}
        self.loads = []  # Of the machine when each turn began.

    def add(self, name, value):
        self.values.setdefault(name, []).append(value)

    def median(self, name):
        return statistics.median(self.values[name]) if name in self.values else None

    def spread(self, name):
        values = self.values.get(name, [])
        return max(values) / min(values) - 1 if values and min(values) > 0 else 0.0


def measure(turns, folder):
    environment = dict(os.environ, SLUICE_BENCH_FOLDER=str(folder))
    ours(environment, "WriteFiles")
    figures = Figures()
    bench_python = peers.environment()
    wanted = "|".join(f"^{line[1]}$" for line in LINES)
    for turn in range(turns):
        figures.loads.append(machine.load())
        print(f"bench: turn {turn + 1} of {turns}, load {figures.loads[-1]:.1f}", file=sys.stderr, flush=True)
        for name, rate in ours(environment, f"{wanted}|Memcpy|SimdjsonWalk3").items():
            figures.add(name, rate["rows"])
            figures.add(name + " bytes", rate["bytes"])
        for python, libraries in ((bench_python, ("pyarrow", "duckdb", "polars")), (sys.executable, ("fastavro",))):
            for task, rates in theirs(python, folder, libraries).items():
                for library, rows in rates.items():
                    figures.add(f"{library} {task}", rows)
    return figures


def ratio(figures, name, peer):
    """Ours over the peer's; simdjson stands for its walk over the same three fields."""
    reference = figures.median("BM_SimdjsonWalk3/of3" if peer == "simdjson" else peer)
    return figures.median(name) / reference if reference else None


def table(figures, turns):
    lines = ["# Formats on one thread", "",
             f"Made by `./dev bench formats` on {datetime.date.today().isoformat()}: {machine.describe(settings.ROOT)}. Rows of eight columns (BIGINT, STRING, "
             "DOUBLE, DECIMAL(10,2), TIMESTAMP(3), DATE, INT, BOOLEAN; 73 bytes as csv, 152 as json).",
             f"Million rows a second of processor time, medians of {turns} turns in which ours and the libraries alternate, ± the spread. The machine is shared "
             f"(load {min(figures.loads):.1f} to {max(figures.loads):.1f}): read ratios. The libraries run with one thread, on the files that ours wrote; DuckDB counts each decoded column and writes to /dev/null.", "",
             "| | ours | MB/s | " + " | ".join(PEERS) + " | ours / peer | floor |", "|---|---|---|" + "---|" * len(PEERS) + "---|---|"]
    for title, name, task, floors in LINES:
        if figures.median(name) is None:
            continue
        cells = []
        ratios = []
        for peer in PEERS:
            rows = figures.median(f"{peer} {task}")
            cells.append(f"{rows / 1e6:.2f}" if rows else "–")
            if rows:
                ratios.append(f"{peer} {figures.median(name) / rows:.1f}×")
        if "simdjson" in floors:
            ratios.append(f"simdjson's walk {ratio(figures, name, 'simdjson'):.2f}×")
        verdicts = []
        for peer, floor in floors.items():
            reached = ratio(figures, name, "simdjson" if peer == "simdjson" else f"{peer} {task}")
            if reached is not None:
                verdicts.append(f"{peer} {floor:g}× {'reached' if reached >= floor else '**missed**'}")
        lines.append(f"| {title} | {figures.median(name) / 1e6:.2f} ± {figures.spread(name):.0%} | {figures.median(name + ' bytes') / 1e6:,.0f} | "
                     f"{' | '.join(cells)} | {', '.join(ratios) or '–'} | {', '.join(verdicts) or '–'} |")
    limits = [f"memcpy {figures.median('BM_Memcpy bytes') / 1e9:.1f} GB/s"]
    for name, text in (("BM_SimdjsonWalk3/of3", "simdjson's walk over 3 of 3 fields"), ("BM_SimdjsonWalk3/of8", "over 3 of 8")):
        if figures.median(name):
            limits.append(f"{text} {figures.median(name) / 1e6:.2f} M rows/s ({figures.median(name + ' bytes') / 1e6:,.0f} MB/s)")
    return "\n".join(lines) + "\n\nLimits in the same run: " + ", ".join(limits) + ".\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--out", default=str(settings.ROOT / "bench" / "FORMATS.md"))
    arguments = parser.parse_args()
    if not os.environ.get("SLUICE_FORMATS_BENCH_BUILT"):
        subprocess.run([settings.ROOT / "dev", "build", "formats_bench"], check=True, stdout=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="sluice-formats-") as folder:
        figures = measure(arguments.turns, folder)
    text = table(figures, arguments.turns)
    pathlib.Path(arguments.out).write_text(text)
    print(text)


if __name__ == "__main__":
    main()
