#!/usr/bin/env python3
# ctest: timeout=300
"""The driver of the benchmarks works: tiny workloads end with checked results, wrong results and errors count for nothing, and what moved
is told. No time is looked at. Needs DuckDB only (the Python of the tests has it)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("SLUICE_BUILD_DIR", ROOT / "build"))
sys.path.insert(0, str(ROOT / "bench"))

from harness import compare, data, measure, report, settings, verify
from workloads import lake

NAMES = ["W1", "W2", "W3", "W5", "W8", "W10", "W11"]


def options_in(folder):
    return settings.Settings(rows=2000, repeats=1, peers=("duckdb",), flink_repeats=1, flink_rows=0, work=folder, data=folder / "data", python=sys.executable)


def test_workloads(folder):
    """Each tiny workload gives a line of the table with DuckDB beside it."""
    done = subprocess.run([sys.executable, ROOT / "bench" / "run.py", *NAMES, "--size", "tiny", "--repeats", "1", "--peers", "duckdb", "--peer-python",
                           sys.executable, "--keep-results", "--work", folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("| W")]
    for name in NAMES:
        own = [line for line in lines if line.startswith(f"| {name} |")]
        assert own, f"no line for {name}:\n{done.stdout}{done.stderr}"
        assert all("fails" not in line for line in own), own
        assert name == "W1" or any("duckdb" in line for line in own), own
        if (BUILD / "bench" / "limit_start").exists():
            assert all("% of" in line for line in own), f"no share of a limit: {own}"


def test_sets_are_the_same_each_time(folder):
    """Equal seeds give equal bytes, and no row depends on how many files there are."""
    generator = BUILD / "bench" / "bench_generate"
    for name in data.COLUMNS:
        for form in ("csv", "json"):
            found = set()
            for files in ("1", "3"):
                target = folder / f"set-{name}-{form}-{files}"
                target.mkdir()
                subprocess.run([generator, name, form, "500", "7", target, files], check=True)
                found.add(b"".join(path.read_bytes() for path in sorted(target.iterdir())))
            assert len(found) == 1, (name, form)
            text = found.pop()
            assert text.count(b"\n") == 500
            if form == "json":
                assert list(json.loads(text.splitlines()[0])) == data.names(name), name
            else:
                assert len(text.splitlines()[0].split(b",")) == len(data.names(name)), name


def test_wrong_results_are_refused(folder):
    """A table with a row that was changed, or one row less, has another digest."""
    options = options_in(folder)
    source = data.make(options, "orders", "csv")
    wanted = lake.expected(options, source, "csv")
    assert wanted[0] == 2000
    first = source / "part-0"
    text = first.read_text()
    for wrong in (text.replace(",", ",1", 1), text.split("\n", 1)[1]):
        first.write_text(wrong)
        try:
            verify.expect("orders", lake.expected(options, source, "csv"), wanted)
        except measure.Failed:
            continue
        raise AssertionError("a wrong result was taken for right")
    verify.expect_rows("sums", [["a", 0.1 + 0.2]], [["a", "0.3"]])
    try:
        verify.expect_rows("sums", [["a", 1]], [["a", 2]])
    except measure.Failed:
        return
    raise AssertionError("wrong rows were taken for right")


def test_failing_peer_is_left_out(folder):
    def failing():
        raise measure.Failed("peer: x\nSomeError: no such function")
    case = compare.alternate(compare.Case("W2", "t", 10), lambda: measure.Sample(1, 1, 1), {"duckdb": failing}, 2)
    assert len(case.ours.samples) == 2 and not case.peers and case.failures == {"duckdb": "SomeError: no such function"}, case
    try:
        measure.run(["false"])
    except measure.Failed:
        return
    raise AssertionError("a failed run was measured")


def test_process_tree_is_counted(folder):
    """Processor time of a child of a child counts."""
    burn = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    sample = measure.run(["sh", "-c", f"'{sys.executable}' -c '{burn}'; true"])
    assert sample.cpu_s >= 0.3 and sample.peak_mib > 1, sample


def test_what_moved_is_told(folder):
    case = compare.Case("W2", "t", 10)
    case.ours.samples = [measure.Sample(1, 1, 1)]
    case.peers["duckdb"] = compare.Series([measure.Sample(1.2, 1, 1)])
    recorded = {"W2 t": {"duckdb wall": 1.1}}
    assert report.moved([case], recorded, 1.6) == ([], False)
    lines, worse = report.moved([case], {"W2 t": {"duckdb wall": 2.4}}, 1.6)
    assert worse and "2.4 -> 1.2" in lines[0], lines
    lines, worse = report.moved([case], {"W2 t": {"duckdb wall": 0.5}}, 1.6)
    assert not worse and lines[0].startswith("better"), lines


def main():
    if not (BUILD / "bench" / "bench_generate").exists():
        print("build/bench/bench_generate is not built: ./dev build bench_programs")
        return 77
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            folder = pathlib.Path(tempfile.mkdtemp(prefix="sluice-driver-"))
            try:
                test(folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)
            print(f"ok {name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
