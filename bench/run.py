#!/usr/bin/env python3
"""Measures workloads beside other engines and beside what the machine allows.

  ./dev bench                     all workloads; the table goes to bench/RESULTS.md
  ./dev bench W2 W5               these; their lines of the table are replaced
  ./dev bench smoke               small data, DuckDB only; tells what moved since bench/smoke.json was recorded
  ./dev bench formats             decoding and encoding alone; --repeats says how many turns

Ratios are peer / ours: above 1 is in our favour. See bench/README.md for what is measured and how.
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import workloads
from harness import flink as flink_peer
from harness import measure, peers, report, settings

RESULTS = settings.ROOT / "bench" / "RESULTS.md"
SMOKE = settings.ROOT / "bench" / "smoke.json"
SMOKE_NAMES = ("W1", "W2", "W3", "W5", "W10")
SMOKE_BAND = 1.6  # Neighbours on the machine move ratios by a third; what is recorded is a median.


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="W1…W12", help="workloads, or smoke, or formats")
    parser.add_argument("--size", default="M", choices=list(settings.SIZES), help="rows: tiny, S, M (20 M), L (by hand: an hour and more)")
    parser.add_argument("--rows", type=int, help="rows instead of a size")
    parser.add_argument("--flink-rows", type=int, help="rows that Flink gets; its times are scaled (5 M at most unless given)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--flink-repeats", type=int, default=1)
    parser.add_argument("--peers", default="flink,duckdb,chdb,polars,pyarrow", help="peers to ask, a list with commas")
    parser.add_argument("--peer-python", help="a Python that has the peers already, instead of an environment of the driver's own")
    parser.add_argument("--record", action="store_true", help="with smoke: write what was measured to bench/smoke.json")
    parser.add_argument("--keep-results", action="store_true", help="print the table only, leave bench/RESULTS.md alone")
    parser.add_argument("--work", help="folder for results and data (default: a new one in the temporary folder; data below the cache)")
    return parser.parse_args()


def settings_of(arguments, work):
    rows = arguments.rows or settings.SIZES[arguments.size]
    return settings.Settings(
        rows=rows, repeats=arguments.repeats, peers=tuple(filter(None, arguments.peers.split(","))), flink_repeats=arguments.flink_repeats,
        flink_rows=arguments.flink_rows or min(rows, 5_000_000), work=work,
        data=pathlib.Path(arguments.work) / "data" if arguments.work else settings.CACHE / "data",
        python=arguments.peer_python or peers.environment())


def measure_all(names, options):
    """Runs the workloads and gives their cases; a workload that fails is told and left out."""
    cases, failed, cluster = [], [], None
    try:
        for name in names:
            print(f"bench: {name}", file=sys.stderr, flush=True)
            workload = workloads.load(name)
            if options.wants("flink") and cluster is None and not getattr(workload, "ALONE", False):
                try:
                    cluster = flink_peer.Flink()
                except (subprocess.CalledProcessError, OSError) as error:
                    print(f"bench: {name} goes on without Flink, which does not start: {error}", file=sys.stderr, flush=True)
            try:
                found = workload.run(options, cluster)
            except measure.Failed as error:
                failed.append(name)
                print(f"bench: {name} failed: {error}", file=sys.stderr, flush=True)
                continue
            for case in found:
                print(report.line(case), flush=True)
            cases += found
    finally:
        if cluster:
            cluster.stop()
    return cases, failed


def keep(cases, options):
    """Replaces the lines of the measured workloads in the kept results and writes the table."""
    store = settings.ROOT / "bench" / "results.json"
    kept = report.load_json(store).get("cases", [])
    names = {case.workload for case in cases}
    entries = [entry for entry in kept if entry["workload"] not in names] + [report.as_json(case) for case in cases]
    entries.sort(key=lambda entry: workloads.NAMES.index(entry["workload"]))
    store.write_text(json.dumps({"cases": entries}, indent=1, ensure_ascii=False) + "\n")
    how = ("Made by `./dev bench` as `bench/README.md` tells. Each line: the median of so many runs (in brackets) in turn with the peers, ± the spread of the wall "
           "time, results checked. Ratios are peer / Sluice: above 1 is in our favour. These machines are shared: read ratios, not seconds.")
    RESULTS.write_text(report.document(entries, options, how))


def smoke(arguments, work):
    arguments.size, arguments.rows = ("S", arguments.rows)
    arguments.peers, arguments.repeats = "duckdb", min(arguments.repeats, 3)
    options = settings_of(arguments, work)
    names = [name for name in arguments.names if name != "smoke"] or SMOKE_NAMES
    cases, failed = measure_all(names, options)
    if arguments.record:
        SMOKE.write_text(json.dumps(report.record(cases), indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    lines, worse = report.moved(cases, report.load_json(SMOKE), SMOKE_BAND)
    print("\n".join(lines) if lines else f"bench: nothing moved by more than {SMOKE_BAND}×")
    return 1 if worse or failed else 0


def main():
    arguments = parse()
    if "formats" in arguments.names:
        script = settings.ROOT / "bench" / "formats.py"
        if not script.exists():
            raise SystemExit("bench/formats.py is missing")
        return subprocess.run([sys.executable, script, "--turns", str(arguments.repeats)]).returncode
    unknown = set(arguments.names) - set(workloads.NAMES) - {"smoke"}
    if unknown:
        raise SystemExit(f"There is no workload {', '.join(sorted(unknown))}. Known: {', '.join(workloads.NAMES)}, smoke, formats.")
    work = pathlib.Path(tempfile.mkdtemp(prefix="sluice-bench-", dir=arguments.work))
    try:
        if "smoke" in arguments.names:
            return smoke(arguments, work)
        options = settings_of(arguments, work)
        names = arguments.names or [n for n in workloads.NAMES if (settings.ROOT / "bench" / "workloads" / f"{n.lower()}.py").exists()]
        cases, failed = measure_all(names, options)
        if cases and not arguments.keep_results:
            keep(cases, options)
        return 1 if failed else 0
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
