"""Rows as CSV into an object store (moto on this machine), beside a loop of plain PUT requests of the same bytes by curl."""
import os
import pathlib
import shutil
import subprocess
import time
import urllib.request
import xml.etree.ElementTree as ElementTree

from harness import compare, data, measure, settings, sluice
from workloads import lake

LAUNCHER = str(settings.SERVICES / "s3.sh")
ENVIRONMENT = dict(os.environ, SLUICE_S3_NAME="s3_bench")
# Any signature will do for moto, but there must be one.
SIGNED = {"Authorization": "AWS4-HMAC-SHA256 Credential=TEST/20200101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"}
PART_BYTES = 8 << 20


def request(address, method="GET"):
    with urllib.request.urlopen(urllib.request.Request(address, method=method, headers=SIGNED), timeout=60) as answer:
        return answer.read()


def stored_bytes(address, prefix):
    """Bytes of the objects below a prefix of the bucket."""
    document = ElementTree.fromstring(request(f"{address}/bench?list-type=2&prefix={prefix}"))
    return sum(int(node.text) for node in document.iter() if node.tag.rsplit("}", 1)[-1] == "Size")


def curl_puts(options, address, files):
    """Wall seconds of one curl after the other, 8 MiB each, two loops side by side as ours has two writers."""
    pieces = options.work / "pieces"
    shutil.rmtree(pieces, ignore_errors=True)
    pieces.mkdir()
    count = 0
    for path in files:
        with path.open("rb") as file:
            while block := file.read(PART_BYTES):
                (pieces / f"p{count}").write_bytes(block)
                count += 1
    loop = ("i={first}; while [ $i -lt {count} ]; do curl --silent --fail --output /dev/null -H 'Authorization: {auth}' -T {folder}/p$i "
            "{address}/bench/plain/p$i || exit 1; i=$((i + 2)); done")
    start = time.monotonic()
    running = [subprocess.Popen(["sh", "-c", loop.format(first=first, count=count, auth=SIGNED["Authorization"], folder=pieces, address=address)])
               for first in (0, 1)]
    if any([process.wait() for process in running]):
        raise measure.Failed("curl could not put an object")
    return time.monotonic() - start


def cases(options):
    if options.rows < 100_000:  # The test of the driver: the store is not worth its start there.
        return []
    folder = data.make(options, "orders", "csv", min(options.rows, 2_000_000))  # moto keeps everything in memory.
    rows = min(options.rows, 2_000_000)
    size = sum(path.stat().st_size for path in pathlib.Path(folder).iterdir())
    address = subprocess.check_output([LAUNCHER, "start"], env=ENVIRONMENT, text=True, stderr=subprocess.DEVNULL).split()[-1]
    try:
        request(f"{address}/bench", "PUT")
        case = compare.Case("W8", "CSV rows → objects (moto)", rows)
        sql = (lake.file_table(folder, "csv") + f"CREATE TABLE objects ({data.COLUMNS['orders']}) WITH ('connector'='filesystem', 'path'='s3://bench/rows%d', "
               f"'format'='csv', 's3.endpoint'='{address}', 's3.access-key'='k', 's3.secret-key'='s', 's3.path.style.access'='true');\n"
               "INSERT INTO objects SELECT * FROM source;\n")
        limit = curl_puts(options, address, data.files(folder))

        def ours():
            sample = sluice.run(options, sql % len(case.ours.samples))
            if stored_bytes(address, f"rows{len(case.ours.samples)}/") < size * 9 // 10:
                raise measure.Failed("objects are missing")
            return sample

        compare.alternate(case, ours, {}, min(options.repeats, 3))
        case.limit_name, case.limit_wall_s = "PUT requests of the same bytes by curl", limit
        case.extra["MB/s"] = size / 1e6 / case.ours.median("wall_s")
        return [case]
    finally:
        subprocess.run([LAUNCHER, "wipe"], env=ENVIRONMENT, capture_output=True)
