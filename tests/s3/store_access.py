"""What tests look at in a store, past Sluice: objects and unfinished uploads by plain requests, tables by pyarrow."""

import datetime
import hashlib
import hmac
import json
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree

import pyarrow.csv
import pyarrow.fs
import pyarrow.parquet


# moto takes any key and any signature; versitygw this key only.
KEY, SECRET, REGION = "AKIDSLUICE", "not-to-be-shown", "us-east-1"


def signed_headers(address, method, data):
    """The headers of a request, signed by AWS Signature Version 4 (AWS General Reference, "Create a signed request")."""
    parts = urllib.parse.urlsplit(address)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    content = hashlib.sha256(data or b"").hexdigest()
    headers = {"host": parts.netloc, "x-amz-content-sha256": content, "x-amz-date": now}
    pairs = sorted(urllib.parse.parse_qsl(parts.query, keep_blank_values=True))
    query = "&".join(f"{urllib.parse.quote(key, safe='-_.~')}={urllib.parse.quote(value, safe='-_.~')}" for key, value in pairs)
    names = ";".join(headers)
    canonical = "\n".join([method, parts.path or "/", query, *(f"{name}:{value}" for name, value in headers.items()), "", names, content])
    scope = f"{now[:8]}/{REGION}/s3/aws4_request"
    text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
    key = ("AWS4" + SECRET).encode()
    for word in (*scope.split("/"), text):
        key = hmac.new(key, word.encode(), hashlib.sha256).digest()
    headers["Authorization"] = f"AWS4-HMAC-SHA256 Credential={KEY}/{scope}, SignedHeaders={names}, Signature={key.hex()}"
    headers["Content-Type"] = "application/octet-stream"
    return headers


def request(address, method="GET", data=None):
    with urllib.request.urlopen(urllib.request.Request(address, method=method, data=data, headers=signed_headers(address, method, data)), timeout=60) as response:
        return response.read()


def texts(xml, element, child):
    """Texts of <child> in every <element> of a document, whatever the namespace."""
    found = []
    for node in ElementTree.fromstring(xml).iter():
        if node.tag.rsplit("}", 1)[-1] == element:
            found += [part.text or "" for part in node if part.tag.rsplit("}", 1)[-1] == child]
    return found


class Bucket:
    def __init__(self, address, name):
        self.address, self.name = address, name
        request(f"{address}/{name}", "PUT")

    def url(self, key="", **query):
        path = f"{self.address}/{self.name}" + (f"/{urllib.parse.quote(key)}" if key else "")
        return path + ("?" + urllib.parse.urlencode(query) if query else "")

    def keys(self, prefix=""):
        keys, token = [], ""
        while True:
            query = {"list-type": "2", "prefix": prefix}
            if token:
                query["continuation-token"] = token
            page = request(self.url(**query))
            keys += texts(page, "Contents", "Key")
            token = "".join(texts(page, "ListBucketResult", "NextContinuationToken"))
            if not token:
                return keys

    def visible(self, prefix):
        """Keys that a reader of the table takes: no component below the root is hidden."""
        return [key for key in self.keys(prefix + "/") if not any(part[:1] in "._" for part in key[len(prefix) + 1 :].split("/"))]

    def uploads(self):
        page = request(self.url() + "?uploads")
        return list(zip(texts(page, "Upload", "Key"), texts(page, "Upload", "UploadId")))

    def abort(self, key, upload_id):
        request(self.url(key, uploadId=upload_id), "DELETE")

    def read(self, key):
        return request(self.url(key))

    def put(self, key, data):
        request(self.url(key), "PUT", data)

    def delete(self, key):
        request(self.url(key), "DELETE")

    def file_system(self):
        return pyarrow.fs.S3FileSystem(access_key=KEY, secret_key=SECRET, endpoint_override=self.address, region=REGION)

    def ids(self, table, form):
        """The ids in all visible files of a table, read by pyarrow; json and raw by Python."""
        found = []
        store = self.file_system()
        for key in self.visible(table):
            path = f"{self.name}/{key}"
            if form == "parquet":
                found += pyarrow.parquet.read_table(path, filesystem=store, columns=["id"], partitioning=None).column(0).to_pylist()
                continue
            data = self.read(key)
            if data and not data.endswith(b"\n"):
                raise AssertionError(f"{key} ends in the middle of a line")
            if form == "csv":
                options = pyarrow.csv.ReadOptions(autogenerate_column_names=True)
                with store.open_input_stream(path) as stream:
                    found += pyarrow.csv.read_csv(stream, options).column(0).to_pylist()
            elif form == "json":
                found += [json.loads(line)["id"] for line in data.splitlines()]
            else:
                found += [int(line) for line in data.splitlines()]
        return found
