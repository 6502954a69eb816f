"""The engines beside us: an environment of those that come from PyPI, and one statement in one of them."""
import hashlib
import json
import os
import pathlib
import subprocess
import sys

from harness import measure, settings

PEER_MAIN = settings.ROOT / "bench" / "harness" / "peer_main.py"


def environment():
    """The interpreter of the environment of bench/peers.txt, made at the first use."""
    requirements = settings.ROOT / "bench" / "peers.txt"
    folder = settings.CACHE / ("venv-" + hashlib.sha256(requirements.read_bytes()).hexdigest()[:12])
    python = folder / "bin" / "python3"
    if not (folder / "complete").exists():
        print(f"bench: installing the peers into {folder}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", requirements], check=True)
        (folder / "complete").touch()
    return str(python)


def ask(options, engine, statements, output=None):
    """Runs statements in an engine with a fresh process and measures them alone, without its start. Files below `output` are
    brought to the disk within the time. Returns a Sample and the rows of the last statement."""
    request = {"engine": engine, "statements": statements, "threads": settings.PARALLELISM, "output": str(output) if output else None}
    process = subprocess.run([options.python, PEER_MAIN], input=json.dumps(request), capture_output=True, text=True,
                             env=dict(os.environ, PYTHONPATH=str(settings.ROOT / "bench")))
    if process.returncode != 0:
        raise measure.Failed(f"{engine}: {statements}\n{process.stderr[-2000:]}")
    answer = json.loads(process.stdout.splitlines()[-1])
    return measure.Sample(answer["wall_s"], answer["cpu_s"], answer["peak_mib"]), answer["rows"]


def started(options, engine):
    """Wall, processor time and memory of a whole process that runs SELECT 1 in an engine."""
    request = pathlib.Path(options.work) / "start.json"
    request.write_text(json.dumps({"engine": engine, "statements": ["pl.select(1)" if engine == "polars" else "SELECT 1"], "threads": 1, "output": None}))
    with request.open() as stdin:
        return measure.run([options.python, PEER_MAIN], environment={"PYTHONPATH": str(settings.ROOT / "bench")}, stdin=stdin)
