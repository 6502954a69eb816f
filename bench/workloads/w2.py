"""W2: CSV -> partitioned Parquet."""
from workloads import lake

TITLE = "CSV → 48 Parquet partitions"


def run(options, flink):
    return lake.files_case(options, flink, "W2", TITLE, "csv", ("csv", "csv scan + parse"))
