"""A broker of the benchmark's own (tools/services/kafka.sh), which shares the cores with what is measured."""
import os
import subprocess

from harness import settings

LAUNCHER = str(settings.SERVICES / "kafka.sh")


class Broker:
    def __init__(self, name="bench"):
        self.environment = dict(os.environ, SLUICE_KAFKA_NAME=name, SLUICE_KAFKA_HEAP="768m")
        self.address = self._call("start").split()[-1]

    def _call(self, *arguments, stdin=None):
        return subprocess.run([LAUNCHER, *arguments], env=self.environment, stdin=stdin, check=True, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True).stdout

    def fill(self, topic, partitions, files):
        """Makes a topic of the lines of files and gives the count of each partition."""
        self._call("topic", topic, str(partitions))
        with subprocess.Popen(["cat", *files], stdout=subprocess.PIPE) as lines:
            self._call("produce", topic, stdin=lines.stdout)
        return [int(line.split()[2]) - int(line.split()[1]) for line in self._call("offsets", topic).splitlines()]

    def wipe(self):
        subprocess.run([LAUNCHER, "wipe"], env=self.environment, capture_output=True)
