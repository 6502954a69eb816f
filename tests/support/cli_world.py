"""What tests of the command line share: checks that are counted, a folder with a directory that a job watches, and the run of a script's tests."""

import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
failures = []


def check(condition, what, text=""):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}\n{str(text)[-3000:]}")
    return condition


class Folder:
    """The directory of one test: input in `in`, states of jobs below `state`."""

    def __init__(self, name):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix=f"sluice-{name}-"))
        self.environment = dict(os.environ, XDG_STATE_HOME=str(self.directory / "state"), TZ="UTC")
        (self.directory / "in").mkdir()

    def put(self, name, text):
        """Adds a file to `in` that is whole when it can be seen."""
        hidden = self.directory / "in" / f".{name}"
        hidden.write_text(text)
        hidden.rename(self.directory / "in" / name)

    def start(self, script, *arguments, log=None, environment=None):
        """Starts `sluice run`; what it prints is added to `process.log`."""
        log = pathlib.Path(log or f"{script}.log")
        with log.open("a") as out:
            process = subprocess.Popen([SLUICE, "run", str(script), *arguments], stderr=out, stdout=out, env=dict(self.environment, **(environment or {})), cwd=self.directory)
        process.log = log
        return process

    def call(self, *arguments):
        """Runs `sluice` with these arguments to its end."""
        return subprocess.run([SLUICE, *map(str, arguments)], capture_output=True, text=True, env=self.environment, cwd=self.directory, timeout=120)


def run_tests(script):
    """Runs the functions test_* of a script, those whose names hold a word of the command line, and exits."""
    for name, test in sorted(script.items()):
        if name.startswith("test_") and (len(sys.argv) == 1 or any(word in name for word in sys.argv[1:])):
            print(name, flush=True)
            test()
    print(f"{len(failures)} failure(s)")
    sys.exit(1 if failures else 0)
