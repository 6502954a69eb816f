#!/usr/bin/env python3
"""Many small files: reading them once, watching them, and the CPU that an idle watch takes.

    bench/watch.py [--sluice PATH] [--files 100000] [--rows 10] [--keep]

Prints files a second for a bounded read and for a watched backlog, each beside bench/limits/scan_directory.cc (list, open, read, close and
nothing else) on the same files, and the CPU of the watching process while nothing happens. `main` returns the figures as a dictionary.
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)


def make_files(folder, count, rows):
    for i in range(count):
        if i % 1000 == 0:
            below = os.path.join(folder, f"d{i // 1000:04}")
            os.makedirs(below)
        with open(os.path.join(below, f"f{i:07}.csv"), "w") as out:
            out.write("".join(f"{i * rows + r},user-{r},{r * 1.5}\n" for r in range(rows)))


def limit_seconds(folder, threads):
    program = os.path.join(ROOT, "build", "bench", "limit_scan_directory")
    if not os.path.exists(program):
        raise SystemExit(f"{program} is missing: ./dev build limit_scan_directory")
    out = subprocess.run([program, folder, str(threads)], check=True, capture_output=True, text=True).stdout
    return json.loads(out.splitlines()[-1])["wall_s"]


def table(folder, more=""):
    return (f"CREATE TABLE files (id BIGINT, name STRING, amount DOUBLE) WITH ('connector'='filesystem', 'path'='{folder}', "
            f"'format'='csv'{more});")


def bounded_seconds(sluice, folder):
    sql = table(folder) + "CREATE TABLE nowhere (id BIGINT, name STRING, amount DOUBLE) WITH ('connector'='blackhole'); INSERT INTO nowhere SELECT * FROM files;"
    begin = time.monotonic()
    subprocess.run([sluice, "run", "-e", sql, "-D", "execution.runtime-mode=batch"], check=True, capture_output=True)
    return time.monotonic() - begin


def bytes_below(folder):
    return sum(os.path.getsize(os.path.join(path, name)) for path, _, names in os.walk(folder) for name in names if not name.startswith((".", "_")))


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid):
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))


def watched(sluice, work, folder, files, rows, idle_seconds):
    """A job watches the backlog into a csv table; returns seconds until all rows are published, idle CPU share, bytes of state."""
    out, state = os.path.join(work, "out"), os.path.join(work, "state")
    sql = (table(folder, ", 'source.monitor-interval'='1 s'") +
           f"CREATE TABLE copies (id BIGINT, name STRING, amount DOUBLE) WITH ('connector'='filesystem', 'path'='{out}', 'format'='csv');"
           "INSERT INTO copies SELECT * FROM files;")
    expected = bytes_below(folder)
    begin = time.monotonic()
    job = subprocess.Popen([sluice, "run", "-e", sql, "-D", "execution.checkpointing.interval=500 ms", "-D", f"execution.checkpointing.dir={state}"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while bytes_below(out) < expected:
            if job.poll() is not None or time.monotonic() - begin > 600:
                raise RuntimeError("the watching job has ended or does not get done")
            time.sleep(0.05)
        seconds = time.monotonic() - begin
        time.sleep(2)
        cpu, at = cpu_seconds(job.pid), time.monotonic()
        time.sleep(idle_seconds)
        idle = (cpu_seconds(job.pid) - cpu) / (time.monotonic() - at)
        # A new file while idle: how long until it is read and published.
        begin = time.monotonic()
        with open(os.path.join(folder, "latest.csv"), "w") as late:
            late.write("1,late,1.5\n")
        while bytes_below(out) <= expected and time.monotonic() - begin < 30:
            time.sleep(0.005)
        latency = time.monotonic() - begin
        memory = resident_mb(job.pid)
    finally:
        job.send_signal(signal.SIGTERM)
        job.wait()
        late_file = os.path.join(folder, "latest.csv")
        if os.path.exists(late_file):
            os.remove(late_file)
    state_bytes = sum(os.path.getsize(os.path.join(p, n)) for p, _, names in os.walk(state) for n in names)
    return seconds, idle, latency, state_bytes, memory


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sluice", default=os.environ.get("SLUICE_BINARY", os.path.join(ROOT, "build", "sluice")))
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--idle-seconds", type=float, default=10)
    parser.add_argument("--keep", action="store_true", help="leave the files where they are")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    args = parser.parse_args(arguments)
    work = tempfile.mkdtemp(prefix="sluice-watch-bench-")
    try:
        folder = os.path.join(work, "in")
        make_files(folder, args.files, args.rows)
        threads = os.cpu_count()
        limit_seconds(folder, threads)  # Into the page cache, for all that follow.
        limit = min(limit_seconds(folder, threads) for _ in range(2))
        bounded = min(bounded_seconds(args.sluice, folder) for _ in range(2))
        seconds, idle, latency, state_bytes, memory = watched(args.sluice, work, folder, args.files, args.rows, args.idle_seconds)
        figures = {
            "files": args.files,
            "limit_files_per_s": round(args.files / limit),
            "bounded_files_per_s": round(args.files / bounded),
            "bounded_of_limit": round(limit / bounded, 3),
            "watched_files_per_s": round(args.files / seconds),
            "watched_of_limit": round(limit / seconds, 3),
            "idle_cpu_percent": round(100 * idle, 3),
            "latency_to_published_s": round(latency, 3),
            "state_bytes_per_file": round(state_bytes / args.files, 2),
            "resident_mb": round(memory, 1),
        }
        if args.json:
            print(json.dumps(figures))
        else:
            for name, value in figures.items():
                print(f"{name:24} {value:>12}")
        return figures
    finally:
        if not args.keep:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
    sys.exit(0)
