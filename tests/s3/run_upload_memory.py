#!/usr/bin/env python3
# ctest: timeout=300
"""Parts of uploads that a slow store has not taken yet stay within sluice.memory.limit; the writers wait meanwhile.

The same job with a large limit must hold far more, or the test would show nothing.
"""
import os
import sys
import threading
import time

from fault_proxy import Fault
from run_s3 import DIRECTORY, ENVIRONMENT, SLUICE, Failure, World, expect, nothing_left

MIB = 1 << 20
PART_BYTES = 5 * MIB
ROWS = 600_000
ROW_BYTES = 100  # Of a line, its end too.
SMALL_LIMIT_MIB = 32
WRITERS = 2
# A quarter of the limit, and what each writer begins before it looks again: a part, as a batch is smaller.
MOST_BYTES = SMALL_LIMIT_MIB * MIB // 4 + WRITERS * PART_BYTES
QUIET_SECONDS = 3


class Slow:
    """Holds parts, which their sender holds as well, until no more of them come; knows how much that was at most."""

    def __init__(self):
        self.lock = threading.Lock()
        self.held = self.most = self.parts = 0
        self.newest = 0.0

    def __call__(self, handler, forward):
        size = int(handler.headers.get("Content-Length") or 0)
        with self.lock:
            self.parts += 1
            self.held += size
            self.most = max(self.most, self.held)
            self.newest = time.monotonic()
        while time.monotonic() < self.newest + QUIET_SECONDS:
            time.sleep(0.1)
        answer = forward()
        with self.lock:
            self.held -= size
        handler.answer(*answer)


def run(world, limit_mib):
    """Writes 60 MB through the slow proxy; the most bytes under way, and the most memory of the process in MiB."""
    table = world.table("raw")
    script = DIRECTORY / f"{table}.sql"
    script.write_text(
        f"SET 'sluice.memory.limit'='{limit_mib} mb';\nSET 'execution.checkpointing.interval'='1 h';\nSET 'parallelism.default'='{WRITERS}';\n"
        f"CREATE TABLE g (id BIGINT) WITH ('connector'='datagen','fields.id.kind'='sequence','fields.id.start'='1','fields.id.end'='{ROWS}','rows-per-second'='100000000');\n"
        f"CREATE TABLE {table} (line STRING) WITH ('connector'='filesystem','path'='s3://lake/{table}','format'='raw');\n"
        f"INSERT INTO {table} SELECT LPAD(CAST(id AS STRING), {ROW_BYTES - 1}, '0') FROM g;\n")
    slow = Slow()
    world.proxy.clear()
    world.proxy.add(Fault("UploadPart", slow))
    # As many at once as the job likes: its memory is what holds it back, not the connections.
    options = world.options(through_proxy=True) | {"s3.upload.max.concurrent.uploads": 32, "s3.upload.min.part.size": "5 mb"}
    log = DIRECTORY / f"{table}.log"
    command = [SLUICE, "run", str(script)]
    for key, value in options.items():
        command += ["-D", f"{key}={value}"]
    with log.open("wb") as out:
        pid = os.posix_spawn(SLUICE, command, ENVIRONMENT, file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1), (os.POSIX_SPAWN_DUP2, out.fileno(), 2)])
    _, status, usage = os.wait4(pid, 0)
    expect(status == 0, f"exit {os.waitstatus_to_exitcode(status)}: {log.read_text()[-2000:]}")
    expect(slow.parts >= ROWS * ROW_BYTES // (2 * PART_BYTES), f"only {slow.parts} parts were sent")
    rows = sum(world.bucket.read(key).count(b"\n") for key in world.bucket.visible(table))
    expect(rows == ROWS, f"{rows} rows are there")
    nothing_left(world, table)
    peak_mib = usage.ru_maxrss / 1024
    print(f"limit {limit_mib} MiB: at most {slow.most / MIB:.0f} MiB of {slow.parts} parts under way, {peak_mib:.0f} MiB of memory", flush=True)
    return slow.most, peak_mib


def main():
    world = World()
    try:
        small, small_peak_mib = run(world, SMALL_LIMIT_MIB)
        large, large_peak_mib = run(world, 4096)
        expect(small <= MOST_BYTES, f"{small} bytes were under way at once, {MOST_BYTES} is the most under a limit of {SMALL_LIMIT_MIB} MiB")
        expect(large > 2 * MOST_BYTES, f"with a large limit {large} bytes were under way at once: the test shows nothing")
        # What is under way is what tells the two runs apart.
        spared_mib = (large - small) / MIB
        expect(small_peak_mib < large_peak_mib - spared_mib / 2, f"{small_peak_mib:.0f} MiB of memory, {large_peak_mib:.0f} MiB with a large limit")
    except Failure as failure:
        print(f"FAILED: {failure}")
        return 1
    finally:
        world.close()
    print("upload memory: within the limit")
    return 0


if __name__ == "__main__":
    sys.exit(main())
