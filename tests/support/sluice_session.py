"""Runs statements through the sluice binary as one session would, one process a statement.

Definitions (CREATE, SET, USE, ...) live in the process that runs them, so those remembered are written in front of every
statement; start-up takes some 20 ms. Positions in messages are counted from the statement again.
"""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

DEFINITION = re.compile(r"\s*(CREATE|DROP|ALTER|USE|SET|RESET|LOAD|UNLOAD)\b", re.IGNORECASE)
JOB = re.compile(r"\s*(EXECUTE\s+)?(INSERT|STATEMENT|BEGIN|CREATE\s+(OR\s+REPLACE\s+)?TABLE)\b", re.IGNORECASE)
COMMENT = re.compile(r"\s*(--[^\n]*\n|//[^\n]*\n|/\*.*?\*/)", re.DOTALL)
MARKER = "@@end of statement@@"


@dataclass
class Outcome:
    """What one process answered: results as printed, messages, and how it ended."""

    code: int
    text: str
    messages: str

    @property
    def rows(self):
        return parse_rows(self.text)

    @property
    def killed(self):
        return self.code == -9


def without_comments(sql):
    """The statement from its first word on."""
    while match := COMMENT.match(sql):
        sql = sql[match.end() :]
    return sql.strip()


def is_definition(sql):
    words = without_comments(sql)
    if re.match(r"SET\s*;?\s*$|ALTER\s+TABLE\s+\S+\s+(ADD|DROP)\s.*\bPARTITION\b", words, re.IGNORECASE):
        return False  # A query; a change of directories.
    return bool(DEFINITION.match(words)) and not is_table_from_query(words)


def is_table_from_query(sql):
    words = without_comments(sql)
    return bool(re.match(r"CREATE\s+TABLE\b", words, re.I)) and bool(re.search(r"\bAS\s+(SELECT|VALUES|WITH)\b", words, re.I))


def is_job(sql):
    words = without_comments(sql)
    return is_table_from_query(words) or bool(re.match(r"(EXECUTE|INSERT|BEGIN)\b", words, re.I))


class Number(str):
    """A number as it was written, so that nothing is rounded on the way."""

    __slots__ = ()


def parse_rows(text):
    """Rows of JSON results, one object a line, each a list of (name, value)."""
    return [
        json.loads(line, parse_int=Number, parse_float=Number, object_pairs_hook=list) for line in text.split("\n") if line
    ]


class Session:
    """A session: settings for all statements, definitions so far, a folder for scripts and job state."""

    def __init__(self, binary, folder, settings, output="json", timeout=60):
        self.binary = binary
        self.output = output
        self.marker = f'{{"marker":"{MARKER}"}}\n' if output == "json" else f"marker\n{MARKER}\n"
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.settings = settings
        self.timeout = timeout
        self.definitions = []
        self.count = 0
        self.environment = dict(os.environ, XDG_STATE_HOME=str(self.folder / "state"), TZ="UTC")

    def remember(self, sql):
        self.definitions.append(sql.strip().rstrip(";"))

    def command(self, script):
        command = [self.binary, "run", str(script), "--output", self.output, "--log-level", "warn"]
        for key, value in self.settings.items():
            command += ["-D", f"{key}={value}"]
        return command

    def write_script(self, statements, name=None):
        """Writes definitions and statements; answers the path and the line before each statement."""
        self.count += 1
        script = self.folder / f"statement-{name or self.count}.sql"
        text = "".join(f"{definition}\n;\n" for definition in self.definitions)
        lines = []
        for statement in statements:
            lines.append(text.count("\n"))
            text += statement.strip().rstrip(";") + ("\n;\n" if len(statements) > 1 else "\n")
        script.write_text(text, encoding="utf-8")
        return script, lines

    def run(self, sql, crash_point=None):
        """Runs one statement after the definitions."""
        script, lines = self.write_script([sql])
        return self.run_script(script, lines[0], crash_point)

    def run_script(self, script, line, crash_point=None):
        environment = dict(self.environment)
        if crash_point:
            environment["SLUICE_CRASH_POINT"] = crash_point
        command = self.command(script)
        try:
            done = subprocess.run(command, env=environment, capture_output=True, timeout=self.timeout, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired as error:
            messages = (error.stderr or b"").decode("utf-8", "replace")
            return Outcome(-1, "", f"{messages}\n(no end within {self.timeout} s)")
        messages = shift_lines(done.stderr.decode("utf-8", "backslashreplace"), line)
        return Outcome(done.returncode, done.stdout.decode("utf-8", "backslashreplace"), messages)

    def run_batch(self, queries):
        """Runs queries in as few processes as possible: a process ends at the first that fails, the next starts behind it."""
        outcomes = []
        while len(outcomes) < len(queries):
            rest = queries[len(outcomes) :]
            statements = []
            for sql in rest:
                statements += [sql, f"SELECT '{MARKER}' AS marker"]
            script, lines = self.write_script(statements)
            whole = self.run_script(script, 0)
            parts = whole.text.split(self.marker)
            good = len(parts) - 1
            if good == 0 and len(rest) > 1 and whole.code != 0:
                outcomes.append(self.run(rest[0]))  # A script with a syntax error anywhere runs none of its statements.
                continue
            outcomes += [Outcome(0, part, whole.messages) for part in parts[:good]]
            if good < len(rest):
                messages = shift_lines(whole.messages, lines[2 * good])
                outcomes.append(Outcome(whole.code or -2, parts[good], messages))
        return outcomes


def shift_lines(messages, offset):
    """Counts `Line 12` from the statement's first line instead of the script's."""

    def shift(match):
        line = int(match.group(2))
        return f"{match.group(1)}{line - offset if line > offset else line}"

    return re.sub(r"\b([Ll]ine )(\d+)", shift, messages)


def fold_changelog(rows):
    """The rows that stay when a changelog (`op` first) has been applied in order; plain rows are answered as they are."""
    kept = []
    for row in rows:
        if not row or row[0][0] != "op":
            kept.append(row)
            continue
        values = row[1:]
        if row[0][1] in ("+I", "+U"):
            kept.append(values)
        elif values in kept:
            kept.remove(values)
        else:
            raise ValueError(f"a {row[0][1]} of a row that is not there: {values}")
    return kept
