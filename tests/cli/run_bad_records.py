#!/usr/bin/env python3
# ctest: timeout=180
"""Bad records put aside: raw bytes, position, reason and time of each, once, over kills; and the limits that stop a job."""
import base64
import glob
import json
import pathlib
import random
import re
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from cli_world import Folder, check, run_tests  # noqa: E402


class World(Folder):
    def __init__(self):
        super().__init__("bad-records")

    def run(self, sql, *arguments):
        return self.call("run", "-e", sql.replace("$DIR", str(self.directory)), *arguments)

    def bad(self, folder="bad"):
        found = []
        for path in sorted(glob.glob(f"{self.directory}/{folder}/*")):
            for line in pathlib.Path(path).read_text().splitlines():
                found.append(json.loads(line))
        return found

    def table(self, columns, options, name="src"):
        return f"CREATE TABLE {name} ({columns}) WITH ('connector'='filesystem','path'='$DIR/in',{options}); "


BATCH = ("-D", "execution.runtime-mode=batch", "--output", "json")


def test_csv_whole_records():
    world = World()
    # A bad number, a quoted break in a bad record, too many fields, bytes that are not UTF-8, and good rows around them.
    content = b'1,a\nx,b\n3,c\ny,"two\nlines"\n5,e,f,g\n6,\xff\xfe\n7,g\n'
    (world.directory / "in" / "f.csv").write_bytes(content)
    done = world.run(world.table("id INT, s STRING", "'format'='csv','bad-records.path'='$DIR/bad'") + "SELECT id FROM src WHERE s IS NOT NULL", *BATCH)
    check(done.returncode == 0 and sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == [1, 3, 7], "good rows only", done)
    bad = world.bad()
    raws = [entry.get("raw", None) if "raw" in entry else base64.b64decode(entry["raw_base64"]) for entry in bad]
    check(raws == ["x,b", 'y,"two\nlines"', "5,e,f,g", b"6,\xff\xfe"], "the raw bytes of each", raws)
    check([entry["position"] for entry in bad] == [content.index(b"x,b"), content.index(b"y,"), content.index(b"5,e"), content.index(b"6,")], "their positions", bad)
    check(all(entry["source"].endswith("/in/f.csv") and entry["table"] == "default_catalog.default_database.src" and entry["reason"] for entry in bad), "source, table, reason", bad)
    check(bad and bad[0]["column"] == "id" and re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z$", bad[0]["time"]), "column and time", bad)
    check("Put a record aside" in done.stderr, "the log gets a sample", done.stderr)


def test_formats_and_ignored_fields():
    world = World()
    (world.directory / "in" / "f.json").write_text('{"id":1,"s":"a"}\n{"id":"x","s":"b"}\n{"id":3\n{"id":4,"s":"d"}\n')
    for ignore, ids, raws in (("false", [1, 4], ['{"id":"x","s":"b"}', '{"id":3']), ("true", [None, 1, 4], ['{"id":3'])):
        done = world.run(world.table("id INT, s STRING", f"'format'='json','json.ignore-parse-errors'='{ignore}','bad-records.path'='$DIR/bad-{ignore}'") + "SELECT id, s FROM src", *BATCH)
        got = sorted((json.loads(line)["id"] for line in done.stdout.splitlines()), key=lambda v: -1 if v is None else v)
        check(done.returncode == 0 and got == ids, f"json rows with ignore-parse-errors {ignore}", done)
        check([entry["raw"] for entry in world.bad(f"bad-{ignore}")] == raws, f"json records aside with ignore-parse-errors {ignore}", world.bad(f"bad-{ignore}"))
    world = World()
    (world.directory / "in" / "f.txt").write_bytes(b"good\nb\xffd\nfine\n")
    done = world.run(world.table("s STRING", "'format'='raw','bad-records.path'='$DIR/bad'") + "SELECT s FROM src", *BATCH)
    check(done.returncode == 0 and len(done.stdout.splitlines()) == 2, "raw rows", done)
    check([base64.b64decode(entry["raw_base64"]) for entry in world.bad()] == [b"b\xffd"], "raw record aside", world.bad())


def test_limits():
    world = World()
    (world.directory / "in" / "f.csv").write_text("".join(f"{'x' if i % 10 == 0 else i},a\n" for i in range(5000)))
    select = "SELECT COUNT(*) AS n FROM src WHERE id >= 0"
    done = world.run(world.table("id INT, s STRING", "'format'='csv','bad-records.path'='$DIR/bad','bad-records.max-count'='499'") + select, *BATCH)
    check(done.returncode == 1 and "bad-records.max-count" in done.stderr and "499" in done.stderr, "the 500th bad record stops the job", done.stderr)
    done = world.run(world.table("id INT, s STRING", "'format'='csv','bad-records.path'='$DIR/bad2','bad-records.max-count'='500'") + select, *BATCH)
    check(done.returncode == 0 and json.loads(done.stdout) == {"n": 4500}, "500 are let through", done)
    check(len(world.bad("bad2")) == 500, "and put aside", len(world.bad("bad2")))
    done = world.run(world.table("id INT, s STRING", "'format'='csv','csv.ignore-parse-errors'='true','bad-records.max-ratio'='0.05'") + select, *BATCH)
    check(done.returncode == 1 and "bad-records.max-ratio" in done.stderr, "a share of a tenth is above 0.05, skipped ones count too", done.stderr)
    done = world.run(world.table("id INT, s STRING", "'format'='csv','bad-records.path'='$DIR/bad3','bad-records.max-ratio'='0.2'") + select, *BATCH)
    check(done.returncode == 0, "a share of a tenth is below 0.2", done.stderr)
    for options, words in (("'format'='parquet','bad-records.path'='$DIR/bad'", ("bad-records.path", "no effect", "parquet")),
                           ("'format'='csv','bad-records.path'='x','bad-records.max-ratio'='2'", ("bad-records.max-ratio", "from 0 to 1")),
                           ("'format'='csv','bad-records.max-count'='-1'", ("bad-records.max-count", "negative")),
                           ("'format'='csv','bad-records.pth'='x'", ("bad-records.path",)),
                           ("'format'='csv','bad-records.path'=' '", ("bad-records.path", "empty"))):
        done = world.run(world.table("id INT, s STRING", options))
        check(done.returncode == 1 and all(word in done.stderr for word in words), f"refused: {options}", done.stderr)


def test_once_over_kills():
    """Good rows into a table, bad records aside, twelve kills at random moments: every record is in one place, once."""
    world = World()
    script = world.directory / "job.sql"
    script.write_text(f"""SET 'execution.checkpointing.interval' = '100 ms';
SET 'parallelism.default' = '2';
CREATE TABLE src (id INT, s STRING) WITH ('connector'='filesystem','path'='{world.directory}/in','format'='csv','source.monitor-interval'='50 ms',
  'bad-records.path'='{world.directory}/bad');
CREATE TABLE dst (id INT, s STRING) WITH ('connector'='filesystem','path'='{world.directory}/out','format'='csv');
INSERT INTO dst SELECT id, s FROM src;
""")
    randomness = random.Random(7)
    total = 0
    for round_number in range(12):
        process = world.start(script)
        for file_number in range(3):
            lines = [f"{'?' if (total + i) % 7 == 0 else ''}{total + i},row {total + i}\n" for i in range(400)]
            world.put(f"{round_number}-{file_number}.csv", "".join(lines))
            total += 400
            time.sleep(randomness.uniform(0.02, 0.15))
        process.send_signal(signal.SIGKILL)
        process.wait()
    begun = script.with_suffix(".sql.log").read_text().count("runs in the background")
    process = world.start(script)
    expected_bad = [i for i in range(total) if i % 7 == 0]
    deadline = time.time() + 40
    while time.time() < deadline and process.poll() is None:
        good = [line for path in glob.glob(f"{world.directory}/out/part-*") for line in pathlib.Path(path).read_text().splitlines()]
        if len(good) >= total - len(expected_bad) and len(world.bad()) >= len(expected_bad):
            break
        time.sleep(0.1)
    while process.log.read_text().count("runs in the background") <= begun and time.time() < deadline:
        time.sleep(0.01)  # All may have been there before: until the job runs the signal ends the program.
    process.send_signal(signal.SIGTERM)
    check(process.wait(timeout=60) == 0, "the job stops", process.log.read_text())
    good = sorted(int(line.split(",")[0]) for path in glob.glob(f"{world.directory}/out/part-*") for line in pathlib.Path(path).read_text().splitlines())
    check(good == [i for i in range(total) if i % 7 != 0], "every good row once", len(good))
    bad = sorted(int(entry["raw"].split(",")[0][1:]) for entry in world.bad())
    check(bad == expected_bad, "every bad record aside, once", (len(bad), len(expected_bad)))


if __name__ == "__main__":
    run_tests(globals())
