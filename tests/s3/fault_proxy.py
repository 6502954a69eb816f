"""A store that misbehaves on command: passes requests on to a real one and spoils those that its rules choose.

    proxy = FaultProxy("http://127.0.0.1:9000")
    proxy.add(Fault("UploadPart", status(503, "SlowDown"), times=3, skip=1))
    ... proxy.address ...
    proxy.close()
"""

import http.client
import socket
import struct
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def operation_of(method, path, query):
    """The name that the S3 interface gives to a request."""
    parts = path.strip("/").split("/", 1)
    on_object = len(parts) == 2 and parts[1] != ""
    if "uploads" in query:
        return "CreateMultipartUpload" if method == "POST" else "ListMultipartUploads"
    if "uploadId" in query:
        names = {"PUT": "UploadPart", "POST": "CompleteMultipartUpload", "DELETE": "AbortMultipartUpload", "GET": "ListParts"}
        return names[method]
    if "delete" in query:
        return "DeleteObjects"
    if not on_object:
        return "ListObjectsV2"
    return {"PUT": "PutObject", "GET": "GetObject", "HEAD": "HeadObject", "DELETE": "DeleteObject"}.get(method, method)


class Fault:
    """Spoils the requests of one operation ("*": of all) after the first `skip`, at most `times` of them or until `until`."""

    def __init__(self, operation, action, times=None, skip=0, until=None):
        self.operation, self.action, self.times, self.skip, self.until = operation, action, times, skip, until
        self.hits = 0

    def takes(self, operation):
        if self.operation not in ("*", operation):
            return False
        if self.until is not None and time.time() > self.until:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.times is not None and self.hits >= self.times:
            return False
        self.hits += 1
        return True


def status(code, name, more=""):
    """Answers with an error document and does not pass the request on."""

    def act(handler, forward):
        body = f"<Error><Code>{name}</Code><Message>on command</Message>{more}</Error>".encode()
        handler.answer(code, [("Content-Type", "application/xml")], body if handler.command != "HEAD" else b"")

    return act


def error_in_200(name="InternalError", do_it=False):
    """A 200 that carries an error document, with or without the work done."""

    def act(handler, forward):
        if do_it:
            forward()
        handler.answer(200, [("Content-Type", "application/xml")], f"<Error><Code>{name}</Code></Error>".encode())

    return act


def drop(do_it=False):
    """Resets the connection without an answer, before or after the request was carried out."""

    def act(handler, forward):
        if do_it:
            forward()
        handler.reset()

    return act


def truncate(handler, forward):
    """Promises the whole answer and sends half of it."""
    code, headers, body = forward()
    handler.answer(code, headers, body, cut=len(body) // 2)


def delay(seconds):
    def act(handler, forward):
        time.sleep(seconds)
        handler.answer(*forward())

    return act


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    connection_to_store = threading.local()

    def log_message(self, *_):
        pass

    def forward(self, body):
        """Carries the request out; returns status, headers and body."""
        local = self.connection_to_store
        for attempt in (1, 2):
            connection = getattr(local, "connection", None)
            if connection is None:
                connection = local.connection = http.client.HTTPConnection(self.server.store, timeout=60)
            headers = {name: value for name, value in self.headers.items() if name.lower() not in ("connection", "expect")}
            try:
                connection.request(self.command, self.path, body=body, headers=headers)
                response = connection.getresponse()
                data = response.read()
                break
            except (http.client.HTTPException, OSError):
                connection.close()
                local.connection = None
                if attempt == 2:
                    raise
        skipped = ("content-length", "connection", "transfer-encoding", "date", "server")
        kept = [(name, value) for name, value in response.getheaders() if name.lower() not in skipped]
        if self.command == "HEAD" and response.getheader("content-length"):
            kept.append(("Content-Length", response.getheader("content-length")))
        return response.status, kept, data

    def answer(self, code, headers, body, cut=None):
        self.send_response(code)
        for name, value in headers:
            self.send_header(name, value)
        if not any(name.lower() == "content-length" for name, _ in headers):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            self.reset()

    def reset(self):
        self.wfile.flush()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.close_connection = True
        self.connection.close()
        self.rfile.close()

    def serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else None
        parts = urllib.parse.urlsplit(self.path)
        query = urllib.parse.parse_qs(parts.query, keep_blank_values=True)
        operation = operation_of(self.command, parts.path, query)
        fault = self.server.choose(operation, parts.path, query, self.headers)
        if fault is None:
            self.answer(*self.forward(body))
        else:
            fault.action(self, lambda: self.forward(body))

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = serve

    def handle(self):
        try:
            super().handle()
        except (OSError, ValueError):
            pass  # The connection was reset: by us, or by a client that was killed.

    def finish(self):
        try:
            super().finish()
        except (OSError, ValueError):
            pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, store):
        super().__init__(("127.0.0.1", 0), Handler)
        self.store = store
        self.lock = threading.Lock()
        self.faults = []
        self.log = []  # (operation, path, query) of every request.

    def choose(self, operation, path, query, headers):
        with self.lock:
            self.log.append((operation, path, query, dict(headers)))
            return next((fault for fault in self.faults if fault.takes(operation)), None)

    def handle_error(self, request, client_address):
        pass


class FaultProxy:
    def __init__(self, store_address):
        self.server = Server(urllib.parse.urlsplit(store_address).netloc)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def add(self, fault):
        with self.server.lock:
            self.server.faults.append(fault)
        return fault

    def clear(self):
        with self.server.lock:
            self.server.faults.clear()
            self.server.log.clear()

    def operations(self):
        with self.server.lock:
            return [entry[0] for entry in self.server.log]

    def log(self):
        with self.server.lock:
            return list(self.server.log)

    def close(self):
        self.server.shutdown()
        self.server.server_close()
