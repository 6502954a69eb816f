#!/usr/bin/env python3
# ctest: timeout=600
"""Kills a job that writes text tables of every kind on local disks: see sink_matrix.py."""
import sys

from sink_matrix import Disk, main

if __name__ == "__main__":
    sys.exit(main(Disk, ("csv", "json", "raw", "debezium-json"), rows=20000, per_second=400))
