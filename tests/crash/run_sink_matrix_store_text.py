#!/usr/bin/env python3
# ctest: timeout=600
"""Kills a job that writes text tables of every kind on an object store: see sink_matrix.py."""
import sys

from sink_matrix import Store, main

if __name__ == "__main__":
    sys.exit(main(Store, ("csv", "json", "raw", "debezium-json"), rows=9000, per_second=100, look_every=6))
