"""Flink 2.3 beside us: a cluster of one worker on this machine (tools/services/flink.sh), jobs by its SQL client.

A job's time is its own duration as the REST API gives it: neither the start of the JVMs nor of the client counts.
Processor time and memory are those of both JVMs while the job ran.
"""
import json
import os
import subprocess
import urllib.request

from harness import measure, settings

LAUNCHER = str(settings.SERVICES / "flink.sh")
ENVIRONMENT = dict(os.environ, SLUICE_FLINK_NAME="flink_bench", SLUICE_FLINK_SLOTS="4")


class Flink:
    def __init__(self):
        self.address = subprocess.check_output([LAUNCHER, "start"], text=True, stderr=subprocess.DEVNULL, env=ENVIRONMENT).split()[-1]
        folder = settings.CACHE.parent / "services" / "run" / "flink_bench"
        self.processes = measure.RunningProcesses([int((folder / f"{part}.pid").read_text().split()[0]) for part in ("manager", "worker")])

    def _get(self, path):
        with urllib.request.urlopen(self.address + path) as answer:
            return json.load(answer)

    def _jobs(self):
        return {job["jid"]: job for job in self._get("/jobs/overview")["jobs"]}

    def run(self, options, sql):
        before = set(self._jobs())
        script = options.work / "flink.sql"
        script.write_text(f"SET 'table.dml-sync' = 'true';\nSET 'parallelism.default' = '{settings.PARALLELISM}';\n" + sql)
        self.processes.begin()
        done = subprocess.run([LAUNCHER, "sql", script], capture_output=True, text=True, env=ENVIRONMENT)
        cpu, peak = self.processes.end()
        fresh = [job for jid, job in self._jobs().items() if jid not in before]
        if not fresh or any(job["state"] != "FINISHED" for job in fresh):
            raise measure.Failed(f"Flink did not finish:\n{done.stdout[-3000:]}{done.stderr[-2000:]}")
        return measure.Sample(max(job["duration"] for job in fresh) / 1000, cpu, peak)

    def stop(self):
        subprocess.run([LAUNCHER, "wipe"], capture_output=True, env=ENVIRONMENT)
