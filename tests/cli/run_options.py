#!/usr/bin/env python3
# ctest: timeout=60
"""`sluice options` tells every option with its meaning, and docs/options.md is what it prints.

  run_options.py [--write]      --write renews the page
"""
import csv
import io
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLUICE = os.environ.get("SLUICE_BINARY", str(ROOT / "build" / "sluice"))
PAGE = ROOT / "docs" / "options.md"


def options(*arguments):
    return subprocess.run([SLUICE, "options", *arguments], capture_output=True, text=True)


def main():
    page = options("--markdown").stdout
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page)
        return
    if PAGE.read_text() != page:
        sys.exit("FAILED: docs/options.md is not what the program knows; renew it by tests/cli/run_options.py --write")
    rows = list(csv.DictReader(io.StringIO(options("--output", "csv").stdout)))
    known = {row["option"] for row in rows}
    for key in ("path", "csv.field-delimiter", "parquet.compression", "scan.startup.mode", "rows-per-second", "execution.checkpointing.interval", "connector"):
        if key not in known:
            sys.exit(f"FAILED: {key} is missing from {len(known)} options")
    silent = [row["option"] for row in rows if not row["meaning"].strip()]
    if silent:
        sys.exit(f"FAILED: options without a meaning: {silent}")
    part = [json.loads(line) for line in options("sink.rolling-policy", "raw", "--output", "json").stdout.splitlines()]
    if {row["of"] for row in part} != {"filesystem", "raw"}:
        sys.exit(f"FAILED: a beginning and a format select {part}")
    wrong = options("parket")
    if wrong.returncode != 1 or "Did you mean 'parquet'?" not in wrong.stderr:
        sys.exit(f"FAILED: an unknown name gives {wrong}")
    print(f"{len(rows)} options are documented")


main()
