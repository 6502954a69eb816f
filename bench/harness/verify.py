"""Results are right before a time counts: their count and a hash that does not depend on the order of rows."""
import math

from harness import measure, peers


def digest(options, columns, relation):
    """Count and order-free hash of columns of a relation, by DuckDB."""
    _, rows = peers.ask(options, "duckdb", [f"SELECT count(*), sum(hash({columns})::HUGEINT)::VARCHAR FROM {relation}"])
    return tuple(rows[0])


def expect(name, found, wanted):
    if found != wanted:
        raise measure.Failed(f"{name}: the result is wrong. Rows and hash are {found}, not {wanted}.")


def values(rows):
    """Rows to compare, sorted; numbers as text are numbers."""
    def value(cell):
        try:
            return float(cell)
        except (TypeError, ValueError):
            return str(cell)
    return sorted(([value(cell) for cell in row] for row in rows), key=lambda row: [str(cell) if isinstance(cell, str) else f"{cell:.6g}" for cell in row])


def same(one, other):
    """Sums of floating-point numbers depend on the order: they may differ in the tenth digit."""
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(one, other, rel_tol=1e-9)


def expect_rows(name, found, wanted):
    found, wanted = values(found), values(wanted)
    if [len(row) for row in found] != [len(row) for row in wanted] or not all(same(*pair) for rows in zip(found, wanted) for pair in zip(*rows)):
        raise measure.Failed(f"{name}: the rows are wrong.\nfound  {found[:3]}… {len(found)}\nwanted {wanted[:3]}… {len(wanted)}")
