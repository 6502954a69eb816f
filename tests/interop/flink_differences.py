"""What Flink 2.3 refuses, and where it is known to lose values: a row that no longer shows fails the run."""

import re
from dataclasses import dataclass


@dataclass
class Differences:
    fails: str = ""  # Why the two sides differ; empty when they must not.


# (format, SQL type, shape), patterns of whole texts: types that Flink refuses.
REFUSED = [
    ("avro", r"TIMESTAMP\([4-9]\)|TIMESTAMP_LTZ.*", ".*"),
    ("orc", r"TIME\(.*|TIMESTAMP_LTZ.*|BINARY.*|MULTISET.*", ".*"),
    ("csv", r"MULTISET.*", ".*"),
    ("raw", r"(?!CHAR|VARCHAR|STRING|BINARY|BYTES).*", ".*"),
]

# (format as shown, SQL type, what is compared, why).
FAILS = [
    ("csv", "STRING", ".*", "an element that holds the delimiter of elements comes back as two, on both sides"),
    ("orc", r"TIMESTAMP\([036]\)", ".*", "Flink writes and reads times before 1582 in the hybrid calendar and the last second before 1970 a second late"),
    ("parquet-int64-(micros|nanos)", r"TIMESTAMP(_LTZ)?\([69]\)", "ours read by Flink",
     "Flink fails on times before 1970 with digits below the millisecond, in its own files too"),
    ("orc", "DATE", "Flink's read by us", "Flink stores days before 1582 in the proleptic calendar without saying so: 'orc.proleptic.gregorian.default'"),
]


def refused_by_flink(name, sql_type, shape):
    return any(re.fullmatch(form, name) and re.fullmatch(kind, sql_type) and re.fullmatch(where, shape) for form, kind, where in REFUSED)


def differences_of(shown, sql_type, what):
    def fits(entry):
        return all(re.fullmatch(pattern, value) for pattern, value in zip(entry, (shown, sql_type, what)))

    return Differences(next((why for *entry, why in FAILS if fits(entry)), ""))
