"""Faults of disks and clocks for the shipped program: builds the library of faulty_libc.c and writes its rules."""

import os
import pathlib
import subprocess

SOURCE = pathlib.Path(__file__).with_name("faulty_libc.c")


class Faults:
    """Rules as faulty_libc.c explains them; `environment` makes a program obey them, from the next call on."""

    def __init__(self, directory):
        self.library = directory / "faulty_libc.so"
        self.rules = directory / "faults"
        self.clear()
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-std=gnu11", "-O1", "-shared", "-fPIC", "-o", self.library, SOURCE, "-ldl"], check=True)

    @property
    def environment(self):
        # AddressSanitizer insists on being loaded first unless it is told that this library may be.
        sanitizer = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"]))
        return {"LD_PRELOAD": str(self.library), "SLUICE_FAULTS": str(self.rules), "ASAN_OPTIONS": sanitizer}

    def set(self, *rules):
        hidden = self.rules.with_suffix(".new")
        hidden.write_text("".join(rule + "\n" for rule in rules))
        hidden.rename(self.rules)

    def clear(self):
        self.set()
