"""The machine and how busy it is: figures without them say nothing."""
import os
import pathlib
import platform
import shutil
import subprocess


def describe(folder):
    """One line for the report. `folder` is where data and results lie."""
    model = platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    kib = int(pathlib.Path("/proc/meminfo").read_text().split()[1])
    device = subprocess.run(["df", "--output=fstype", str(folder)], capture_output=True, text=True).stdout.split()
    return (f"{os.cpu_count()} cores ({model}), {kib / 1048576:.0f} GiB, {device[-1] if device else 'unknown'} with "
            f"{shutil.disk_usage(folder).free >> 30} GiB free, Linux {platform.release().split('-')[0]}")


def load():
    """The mean number of runnable processes of the last minute."""
    return os.getloadavg()[0]
