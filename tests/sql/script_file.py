"""Reads *.test files: a sequence of records separated by blank lines. The shapes are listed in README.md."""

import codecs
import re
from dataclasses import dataclass, field

RULE = re.compile(r"#\s*rule\s+(\d+\.\d+)")


@dataclass
class Record:
    """One record: its kind, the words after it, SQL or content, and what is expected."""

    kind: str
    words: list
    line: int
    sql: str = ""
    expected: list = field(default_factory=list)
    modes: set = None  # Modes it runs in; None means all.


@dataclass
class ScriptFile:
    path: str
    records: list
    rules: set


class ScriptError(Exception):
    """The test file itself is wrong."""


def read_script(path, all_modes):
    lines = open(path, encoding="utf-8").read().split("\n")
    records, rules = [], set()
    file_modes, next_modes = set(all_modes), None
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("#"):
            rules.update(RULE.findall(line))
            at += 1
            continue
        if not line.strip():
            at += 1
            continue
        words = line.split(" ")
        if words[0] in ("only-mode", "skip-mode"):
            named = select_modes(words[1:], all_modes, f"{path}:{at + 1}")
            chosen = named if words[0] == "only-mode" else set(all_modes) - named
            following = lines[at + 1] if at + 1 < len(lines) else ""
            if following.strip():
                next_modes = (next_modes or set(all_modes)) & chosen
            else:
                file_modes &= chosen
            at += 1
            continue
        record, at = read_record(lines, at, path)
        record.modes = file_modes & (next_modes if next_modes is not None else file_modes)
        next_modes = None
        records.append(record)
    return ScriptFile(path, records, rules)


def select_modes(words, all_modes, where):
    chosen = {mode for mode in all_modes for word in words if word in mode}
    if not chosen:
        raise ScriptError(f"{where}: no mode is called {' '.join(words)}; the modes are {', '.join(all_modes)}")
    return chosen


def read_record(lines, at, path):
    words = lines[at].split(" ")
    record = Record(words[0], words[1:], at + 1)
    at += 1
    if record.kind == "file":
        content = []
        while lines[at] != "end":
            content.append(lines[at])
            at += 1
            if at == len(lines):
                raise ScriptError(f"{path}:{record.line}: `file` without `end`")
        record.expected = content
        return record, at + 1
    if record.kind in ("statement", "query", "explain"):
        body = []
        while at < len(lines) and lines[at].strip() and lines[at] != "----":
            body.append(lines[at])
            at += 1
        record.sql = "\n".join(body)
        if not record.sql:
            raise ScriptError(f"{path}:{record.line}: no SQL below `{record.kind}`")
        if at < len(lines) and lines[at] == "----":
            at += 1
        else:
            return record, at
    elif record.kind not in ("files", "text"):
        raise ScriptError(f"{path}:{record.line}: unknown record `{record.kind}`")
    elif at < len(lines) and lines[at] == "----":
        at += 1
    while at < len(lines) and lines[at].strip():
        record.expected.append(lines[at])
        at += 1
    return record, at


def file_content(record):
    """The bytes of a `file` record: lines ended by LF, or with `escaped` the lines joined without line ends and \\-escapes read."""
    if "escaped" in record.words:
        return codecs.escape_decode("".join(record.expected).encode("utf-8"))[0]
    return "".join(line + "\n" for line in record.expected).encode("utf-8")
