"""Reads a case: CASE.sql with its steering lines, and what the peer answered to each of them in result.txt."""

import re
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Step:
    """One line of a case: a statement, a shell command, a wait, or a listing of files, with the answer recorded."""

    kind: str  # sql, sh, nowait, sleep, tree, cancel, nofiles
    text: str
    answer: list = field(default_factory=list)  # Lines of result.txt below it.


def read_case(folder):
    folder = Path(folder)
    steps = read_steps(read_text(folder / f"{folder.name}.sql"))
    attach_answers(steps, read_text(folder / "result.txt"))
    return steps


def read_text(path):
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def read_steps(text):
    steps, statement = [], []
    for line in text.split("\n"):
        if not statement and line.startswith("--@"):
            words = line[3:].strip().split(" ", 1)
            steps.append(Step(words[0], words[1] if len(words) > 1 else ""))
        elif not statement and (line.startswith("--") or not line.strip()):
            continue
        else:
            statement.append(line)
            if ends_statement("\n".join(statement)):
                steps.append(Step("sql", "\n".join(statement).rstrip().rstrip(";")))
                statement = []
    return steps


def ends_statement(text):
    """A `;` at the end of a line ends a statement, outside quotes and statement sets."""
    if not text.rstrip().endswith(";") or text.count("'") % 2:
        return False
    return not re.match(r"EXECUTE STATEMENT SET", text) or bool(re.search(r"END;\s*$", text))


def header(step):
    if step.kind == "sql":
        return "> " + step.text.replace("\n", "\n  ") + ";\n"
    if step.kind == "sh":
        return "$ " + step.text + "\n"
    if step.kind == "tree":
        return ("-- files " + step.text).rstrip() + "\n"
    return None


def attach_answers(steps, result):
    at, open_step, start = 0, None, 0
    for step in steps + [Step("tree", "at the end")]:
        wanted = header(step)
        if wanted is None:
            continue
        found = result.find("\n" + wanted, max(at - 1, 0)) + 1 if at or not result.startswith(wanted) else 0
        if found == 0 and not result.startswith(wanted):
            continue  # Not recorded: the peer stopped listing, or printed nothing.
        if open_step is not None:
            open_step.answer = result[start:found].rstrip("\n").split("\n")
        open_step, start = step, found + len(wanted)
        at = start
    if open_step is not None:
        open_step.answer = result[start:].rstrip("\n").split("\n")


def expected_rows(answer):
    """Rows of `+I a | b` lines; a line without a row kind continues the row above it. None when no rows were answered."""
    if not any(re.match(r"-- \d+ row\(s\)", line) for line in answer):
        return None
    rows = []
    end = max(at for at, line in enumerate(answer) if re.match(r"-- \d+ row\(s\)", line))
    for line in answer[:end]:
        if re.match(r"[+-][IUD] |[+-][IUD]$", line):
            rows.append(line)
        elif rows and not line.startswith("-- ") and not line.startswith("$"):
            rows[-1] += "\n" + line
    if not rows and len(answer) > 2:  # SHOW CREATE and EXPLAIN: text as it is.
        return ["\n".join(line for line in answer if not line.startswith("-- ")).strip()]
    return rows


def expected_error(answer):
    """Messages of the exception chain, outermost first, without class names; None when it did not fail."""
    if not answer or not (answer[0].startswith("-- ERROR") or answer[0].startswith("-- job FAILED")):
        return None
    messages = []
    for line in answer[1:]:
        match = re.match(r"    [A-Z]\w*(?:Exception|Error)?: (.*)", line)
        if match:
            messages.append(match.group(1))
        elif line.startswith("-- "):
            break
        elif messages:
            messages[-1] += " " + line.strip()
    return messages or [""]


def expected_columns(answer):
    for line in answer:
        if line.startswith("-- columns: "):
            return line[len("-- columns: "):]
    return None
