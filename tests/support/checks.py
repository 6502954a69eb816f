"""Tests that stop at the first thing that is not so, and the run of a script's tests."""

import sys
import time


class Failure(Exception):
    pass


def expect(condition, text):
    if not condition:
        raise Failure(text)


def run_tests(script, run=lambda test: test(), of=""):
    """Runs the functions test_* of a script, those whose names hold a word of the command line. `run` calls one of them and may give a
    remark; `of` tells what they run on. Returns whether all passed."""
    words = sys.argv[1:]
    passed = True
    for name, test in list(script.items()):
        if not name.startswith("test_") or (words and not any(word in name for word in words)):
            continue
        begin = time.monotonic()
        try:
            remark = run(test)
            print(f"ok      {name}{of}{f': {remark}' if remark else ''} ({time.monotonic() - begin:.1f} s)", flush=True)
        except Failure as failure:
            passed = False
            print(f"FAILED  {name}{of} ({time.monotonic() - begin:.1f} s): {failure}", flush=True)
    return passed
