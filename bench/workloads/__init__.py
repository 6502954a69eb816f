"""The workloads, one module each: `TITLE`, `run(options, flink)` that gives a list of compare.Case. `flink` is None or a Flink."""
import importlib

NAMES = ("W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8", "W9", "W10", "W11", "W12")


def load(name):
    return importlib.import_module("workloads." + name.lower())
