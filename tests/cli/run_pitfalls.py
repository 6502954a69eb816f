#!/usr/bin/env python3
# ctest: timeout=400
"""Rules of the list of known pitfalls that show only in a whole run: each test is named after its rule."""
import collections
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
DIRECTORY = pathlib.Path(tempfile.mkdtemp(prefix="sluice-pitfalls-"))
ENVIRONMENT = dict(os.environ, XDG_STATE_HOME=str(DIRECTORY / "state"), TZ="UTC")
failures = []


def check(condition, what):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what[:2000]}")


def run(sql, *more, seconds=120):
    return subprocess.run([SLUICE, "run", "-e", sql, *more], capture_output=True, text=True, cwd=DIRECTORY, env=ENVIRONMENT, timeout=seconds)


def peak_memory_mib(process):
    """Looked at until the process ends: what the kernel tells afterwards (ru_maxrss) counts this script's own memory at the fork."""
    peak = 0
    while process.poll() is None:
        peak = max([peak] + [int(line.split()[1]) >> 10 for line in pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines() if line.startswith("VmHWM:")])
        time.sleep(0.02)
    return peak


def test_rule_1_4_a_checkpoint_has_a_closed_set_of_files():
    rows = 3_000_000
    sql = (f"CREATE TABLE g (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='1500000', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='{rows}');"
           "CREATE TABLE f (id BIGINT) WITH ('connector'='filesystem', 'path'='closed', 'format'='csv'); INSERT INTO f SELECT id FROM g;")
    done = run(sql, "-D", "parallelism.default=4", "-D", "execution.checkpointing.interval=200 ms")
    check(done.returncode == 0, f"four writers, a checkpoint every 200 ms: {done.stderr}")
    seen = collections.Counter()
    files = list((DIRECTORY / "closed").glob("part-*"))
    for path in files:
        for line in path.read_bytes().split():
            seen[int(line)] += 1
    twice = sum(1 for count in seen.values() if count > 1)
    check(len(seen) == rows and twice == 0, f"rule 1.4: {rows - len(seen)} rows missing, {twice} rows twice in {len(files)} files")
    check(len(files) > 8, f"the rows are of several checkpoints: {len(files)} files")


def test_rule_5_4_rows_of_compatible_writer_schemas_share_a_file():
    import fastavro  # What writes files of other writers' schemas.
    (DIRECTORY / "versions").mkdir()
    for number in range(10):
        fields = [{"name": "id", "type": "long"}] + ([{"name": "note", "type": ["null", "string"], "default": None}] if number % 2 else [])
        rows = [{"id": number * 100 + row, "note": "n"} for row in range(100)]
        with (DIRECTORY / "versions" / f"{number}.avro").open("wb") as out:
            fastavro.writer(out, {"type": "record", "name": "row", "fields": fields}, rows)
    for form in ("json", "avro", "parquet", "orc"):
        done = run("CREATE TABLE s (id BIGINT, note STRING) WITH ('connector'='filesystem', 'path'='versions', 'format'='avro');"
                   f"CREATE TABLE f (id BIGINT, note STRING) WITH ('connector'='filesystem', 'path'='shared_{form}', 'format'='{form}'); INSERT INTO f SELECT id, note FROM s;"
                   "SELECT COUNT(*) AS n, COUNT(note) AS noted, COUNT(DISTINCT id) AS ids FROM f;", "-D", "parallelism.default=1", "-D", "execution.runtime-mode=batch", "--output", "json")
        files = list((DIRECTORY / f"shared_{form}").glob("part-*"))
        check(done.returncode == 0 and len(files) == 1, f"rule 5.4: {len(files)} files of {form} from two versions of a schema: {done.stderr}")
        check('{"n":1000,"noted":500,"ids":1000}' in done.stdout, f"rule 5.4: 1000 rows, half with a note, in {form}: {done.stdout}")


def files_open_in(process):
    """Paths; what is closed meanwhile is left out."""
    for path in pathlib.Path(f"/proc/{process.pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            yield os.readlink(path)


def test_rule_12_8_the_place_for_waiting_rows_is_an_option_and_may_be_lost():
    script = DIRECTORY / "waiting.sql"
    rows = 300_000
    script.write_text("SET 'execution.checkpointing.interval' = '2 s'; SET 'sluice.memory.limit' = '24 mb'; SET 'io.tmp.dirs' = 'spill-a, spill-b';"
                      "SET 'parallelism.default' = '2';"
                      f"CREATE TABLE g (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='60000', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='{rows}');"
                      "CREATE TABLE f (id BIGINT, note STRING, p BIGINT) PARTITIONED BY (p) WITH ('connector'='filesystem', 'path'='waited', 'format'='csv', 'sink.sort-by-partition'='true');"
                      "INSERT INTO f SELECT id, LPAD(CAST(id AS STRING), 200, 'x'), MOD(id * 7919, 500) FROM g;")
    done = subprocess.run([SLUICE, "run", str(script)], capture_output=True, text=True, cwd=DIRECTORY, env=ENVIRONMENT, timeout=60)
    check(done.returncode == 1 and "'spill-a': No such file or directory" in done.stderr and "'io.tmp.dirs'" in done.stderr, f"rule 12.8: a place that is not there is told at the start: {done.stderr}")
    check(not (DIRECTORY / "waited").exists(), "rule 12.8: nothing was begun")
    for name in ("spill-a", "spill-b"):
        (DIRECTORY / name).mkdir()
    job = subprocess.Popen([SLUICE, "run", str(script)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=DIRECTORY, env=ENVIRONMENT)
    open_files, deadline = "", time.monotonic() + 20
    while not ("/spill-a/" in open_files and "/spill-b/" in open_files) and time.monotonic() < deadline and job.poll() is None:
        open_files = "\n".join(files_open_in(job))
    check("/spill-a/" in open_files and "/spill-b/" in open_files, f"rule 12.8: each writer uses one of the places: {open_files}")
    for name in ("spill-a", "spill-b"):
        shutil.rmtree(DIRECTORY / name)  # The files have no name: nothing is lost.
    log = job.communicate(timeout=60)[1]
    check(job.returncode == 0, f"rule 12.8: the job goes on without the place: {log}")
    seen = collections.Counter(int(line.split(",")[0]) for path in (DIRECTORY / "waited").glob("*/part-*") for line in path.read_text().splitlines())
    check(len(seen) == rows and max(seen.values()) == 1, f"rule 12.8: {rows - len(seen)} rows missing, {sum(1 for count in seen.values() if count > 1)} twice")


def test_rule_15_4_columnar_files_are_written_by_row_groups():
    sql = ("CREATE TABLE g (id BIGINT, s STRING) WITH ('connector'='datagen', 'rows-per-second'='100000000', 'fields.id.kind'='sequence', 'fields.id.start'='1', 'fields.id.end'='6000000', "
           "'fields.s.length'='100');"
           "CREATE TABLE f (id BIGINT, s STRING) WITH ('connector'='filesystem', 'path'='large_{form}', 'format'='{form}', 'sink.rolling-policy.file-size'='10 gb'); INSERT INTO f SELECT id, s FROM g;")
    for form in ("parquet", "orc"):
        process = subprocess.Popen([SLUICE, "run", "-e", sql.format(form=form), "-D", "sluice.memory.limit=64 mb", "-D", "parallelism.default=1", "-D", "execution.checkpointing.interval=1 h"],
                                   cwd=DIRECTORY, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
        peak_mib = peak_memory_mib(process)
        log = process.communicate()[1]
        files = list((DIRECTORY / f"large_{form}").glob("part-*"))
        size = sum(path.stat().st_size for path in files) >> 20
        check(process.returncode == 0 and len(files) == 1, f"rule 15.4: one file of {form}, not {len(files)}: {log}")
        check(size > 320, f"rule 15.4: the file is larger than what may be held, {size} MiB")
        check(peak_mib < 280, f"rule 15.4: {peak_mib} MiB were held for {size} MiB of {form} within 64 MiB")
        for path in files:
            path.unlink()


def test_rule_17_1_bad_rows_are_counted_and_the_log_is_limited():
    (DIRECTORY / "bad").mkdir()
    (DIRECTORY / "bad" / "a.csv").write_text("nonsense\n" * 1_000_000 + "7\n")
    (DIRECTORY / "badj").mkdir()
    (DIRECTORY / "badj" / "a.json").write_text("{oops\n" * 200_000 + '{"i":7}\n')
    for table, form, rows in (("bad", "csv", 1_000_000), ("badj", "json", 200_000)):
        sql = (f"CREATE TABLE t (i INT) WITH ('connector'='filesystem', 'path'='{table}', 'format'='{form}', '{form}.ignore-parse-errors'='true');"
               f"CREATE TABLE o (i INT) WITH ('connector'='filesystem', 'path'='{table}_out', 'format'='csv'); INSERT INTO o SELECT i FROM t WHERE i IS NOT NULL;")
        begin = time.monotonic()
        done = run(sql)
        minutes = 1 + int((time.monotonic() - begin) / 60)
        lines = [line for line in done.stderr.splitlines() if "WARN" in line]
        check(done.returncode == 0, f"bad rows are skipped: {done.stderr[-500:]}")
        check(0 < len(lines) <= 20 * minutes, f"rule 17.1: {len(lines)} lines of log for {rows} bad rows of {form}")
        text = done.stderr.replace(",", "")
        check(str(rows) in text, f"rule 17.1: the summary says that {rows} rows were bad: {done.stderr[-800:]}")
        written = "".join(path.read_text() for path in (DIRECTORY / f"{table}_out").glob("part-*"))
        check(written == "7\n", f"the good row is there: {written!r}")


def test_rule_17_5_a_sink_without_checkpoints_is_told():
    sql = ("CREATE TABLE g (id BIGINT) WITH ('connector'='datagen', 'rows-per-second'='10');"
           "CREATE TABLE f (id BIGINT) WITH ('connector'='filesystem', 'path'='told', 'format'='csv'); INSERT INTO f SELECT id FROM g;")
    job = subprocess.Popen([SLUICE, "run", "-e", sql], cwd=DIRECTORY, env=ENVIRONMENT, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    job.send_signal(signal.SIGTERM)
    log = job.communicate(timeout=20)[1]
    check("execution.checkpointing.interval" in log and "60 s" in log, f"rule 17.5: the default interval is named: {log}")


def test_rule_17_6_the_broken_file_is_named():
    good = {"csv": "1,x\n2,y\n", "json": '{"i":1,"s":"x"}\n{"i":2,"s":"y"}\n'}
    bad = {"csv": "1,x\n2,y\nthree,z\n", "json": '{"i":1,"s":"x"}\n{"i":2,"s":"y"}\n{"i":"three","s":"z"}\n'}
    for form in ("csv", "json"):
        folder = DIRECTORY / f"many_{form}"
        folder.mkdir()
        for number in range(100):
            (folder / f"f{number:03}.{form}").write_text(bad[form] if number == 57 else good[form])
        done = run(f"CREATE TABLE t (i INT, s STRING) WITH ('connector'='filesystem', 'path'='{folder}', 'format'='{form}'); SELECT COUNT(i) FROM t",
                   "-D", "execution.runtime-mode=batch")
        check(done.returncode == 1, f"a broken {form} file fails the query")
        check(re.search(rf"f057\.{form}, line 3, byte \d+, column 'i'.*three", done.stderr, re.S) is not None, f"rule 17.6: path, line, byte, column, reason: {done.stderr}")
    folder = DIRECTORY / "many_parquet"
    sql = (f"CREATE TABLE t (i INT) WITH ('connector'='filesystem', 'path'='{folder}', 'format'='parquet');")
    for _ in range(3):
        check(run(sql + " INSERT INTO t VALUES (1), (2);").returncode == 0, "parquet files for rule 17.6")
    broken = folder / "broken.parquet"
    data = bytearray(sorted(folder.glob("part-*"))[0].read_bytes())
    data[4:20] = b"\xff" * 16  # The first page; the footer stays whole.
    broken.write_bytes(bytes(data))
    done = run(sql + " SELECT SUM(i) FROM t", "-D", "execution.runtime-mode=batch")
    check(done.returncode == 1 and "broken.parquet" in done.stderr and "row group" in done.stderr.lower(), f"rule 17.6: the broken Parquet file and its row group: {done.stderr}")


def main():
    tests = [value for name, value in globals().items() if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} rules, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
