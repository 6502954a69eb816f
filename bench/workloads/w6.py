"""W6: 48, 1,000 and 10,000 partitions, 512 MiB, 1,024 descriptors (bench/partitions.py)."""
from harness import compare, data, limits, measure, settings
from workloads import scripts

TITLE = "1,000 and 10,000 partitions"
ALONE = True
BYTES_PER_ROW = 36  # Of the Parquet files.


def run(options, flink):
    rows = min(options.rows, 5_000_000)
    engines = "sluice,duckdb" if options.wants("duckdb") else "sluice"
    cases = {}
    for line in scripts.lines(options, "partitions.py", "--rows", rows, "--counts", "48,1000,10000", "--engines", engines, "--repeats",
                              min(options.repeats, 3)):
        count = line["partitions"]
        case = cases.setdefault(count, compare.Case("W6", f"CSV → {count:,} Parquet partitions, 512 MiB", rows))
        if "failed" in line:
            case.failures[line["engine"]] = compare.reason(line["failed"])
        elif "seconds" in line:
            sample = measure.Sample(line["seconds"], line["cpu_seconds"], line["peak_mib"])
            series = case.ours if line["engine"] == "sluice" else case.peers.setdefault(line["engine"], compare.Series())
            series.samples.append(sample)
            if line["engine"] == "sluice":
                case.extra["files"], case.extra["most files of a partition"] = line["files"], line["most_files"]
        elif line["engine"] == "sluice" and "ratio_to_48" in line:
            case.extra["time over 48 partitions"] = line["ratio_to_48"]
    add_limits(options, cases, rows)
    return list(cases.values())


def add_limits(options, cases, rows):
    """Behind the measurements: the files of a limit program are in nobody's way then."""
    scan = limits.run("csv", *data.files(data.make(options, "orders", "csv"))).get("csv scan + parse")
    encode = limits.run("parquet_encode", 2_000_000).get("parquet encode")
    for count, case in cases.items():
        made = limits.files_made(options.work, "once", count, rows * BYTES_PER_ROW // count, settings.PARALLELISM)
        if scan and encode and made:
            case.limit_name = "csv scan + parse, parquet encode, files made durable"
            case.limit_cpu_s = scan.cpu_for(rows) + encode.cpu_for(rows) + made.cpu_s
