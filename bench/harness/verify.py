"""Results are right before a time counts: their count and a hash that does not depend on the order of rows."""
from harness import measure, peers


def digest(options, columns, relation):
    """Count and order-free hash of columns of a relation, by DuckDB."""
    _, rows = peers.ask(options, "duckdb", [f"SELECT count(*), sum(hash({columns})::HUGEINT)::VARCHAR FROM {relation}"])
    return tuple(rows[0])


def expect(name, found, wanted):
    if found != wanted:
        raise measure.Failed(f"{name}: the result is wrong. Rows and hash are {found}, not {wanted}.")


def rounded(rows):
    """Rows to compare: sums of floating-point numbers depend on the order, so they are cut to nine digits; numbers as text are numbers."""
    def value(cell):
        try:
            return f"{float(cell):.9g}"
        except (TypeError, ValueError):
            return str(cell)
    return sorted([value(cell) for cell in row] for row in rows)


def expect_rows(name, found, wanted):
    if rounded(found) != rounded(wanted):
        raise measure.Failed(f"{name}: the rows are wrong.\nfound  {rounded(found)[:3]}… {len(found)}\nwanted {rounded(wanted)[:3]}… {len(wanted)}")
