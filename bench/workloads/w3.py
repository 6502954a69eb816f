"""W3: JSON -> partitioned Parquet."""
from workloads import lake

TITLE = "JSON → 48 Parquet partitions"


def run(options, flink):
    return lake.files_case(options, flink, "W3", TITLE, "json", ("json", "json walk"))
