"""An API server for tests: lists in pages, watches, and every failure that was recorded.

It holds objects and a log of changes, as etcd does, and plays the recorded form of answers over
real HTTP (`data/README.md`):

    with ApiServer({"nodes": [...]}) as server:
        server.change("ADDED", "pods", {...})      # watches see it, lists have it
        server.inject("nodes", recorded("too-many-requests-429"))   # the next request for nodes
        server.cut("pods", after_bytes=700)        # the next answer about pods breaks off
        server.compact()                           # whatever is older than now is gone: 410
        with server.gone(): ...                    # nothing listens, open connections break

Only reading is allowed: leaving the block fails for any request that was not a GET.
"""

from __future__ import annotations

import base64
import gzip
import json
import ssl
import threading
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socket import SHUT_RDWR, socket
from typing import Any, Self, cast
from urllib.parse import parse_qs, urlsplit

DATA = Path(__file__).parent / "data"
TOKEN = "reader-of-the-cluster-0123456789"
KINDS = {
    "nodes": "Node",
    "pods": "Pod",
    "namespaces": "Namespace",
    "events": "Event",
    "persistentvolumes": "PersistentVolume",
    "persistentvolumeclaims": "PersistentVolumeClaim",
    "services": "Service",
    "replicationcontrollers": "ReplicationController",
    "replicasets": "ReplicaSet",
    "statefulsets": "StatefulSet",
    "poddisruptionbudgets": "PodDisruptionBudget",
    "priorityclasses": "PriorityClass",
    "storageclasses": "StorageClass",
    "csinodes": "CSINode",
    "csidrivers": "CSIDriver",
    "csistoragecapacities": "CSIStorageCapacity",
    "volumeattachments": "VolumeAttachment",
    "resourceclaims": "ResourceClaim",
    "resourceslices": "ResourceSlice",
    "deviceclasses": "DeviceClass",
    "devicetaintrules": "DeviceTaintRule",
}
TICK_S = 0.02
Json = dict[str, Any]


@dataclass(frozen=True)
class Recorded:
    """An answer as it was recorded: a body, or the lines of a watch and what came of one more."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    cut: bool = False


@cache
def recorded(name: str) -> Recorded:
    """A recorded answer by the name of its file."""
    found = json.loads((DATA / f"{name}.json").read_text())
    if "bodyLines" in found:
        body = "".join(f"{compact(line)}\n" for line in found["bodyLines"])
    else:
        body = found["bodyText"] if "bodyText" in found else compact(found["body"])
    headers = {name.title(): value for name, value in found["headers"].items()}
    kept = {name: headers[name] for name in ("Content-Type", "Retry-After") if name in headers}
    cut = found.get("cutLine", "")
    return Recorded(int(found["status"].split()[1]), kept, (body + cut).encode(), bool(cut))


def compact(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


@dataclass(frozen=True)
class Change:
    """A line of the log: what became of an object at a resource version."""

    resource_version: int
    type: str
    plural: str
    object: Json

    @property
    def key(self) -> tuple[str, str]:
        return key_of(self.object)


def key_of(item: Json) -> tuple[str, str]:
    metadata = item["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


@dataclass(frozen=True)
class Cut:
    after_bytes: int


@dataclass
class State:
    """What the cluster holds, and all that changed; guarded by `moved`."""

    moved: threading.Condition = field(default_factory=threading.Condition)
    resource_version: int = 100
    oldest: int = 0
    log: list[Change] = field(default_factory=list)

    def listed(self, plural: str, resource_version: int) -> list[Json]:
        objects: dict[tuple[str, str], Json] = {}
        for change in self.log:
            if change.plural != plural or change.resource_version > resource_version:
                continue
            objects[change.key] = change.object
            if change.type == "DELETED":
                del objects[change.key]
        return [objects[key] for key in sorted(objects)]


class ApiServer:
    """The server; use as a context manager. See the module docstring."""

    def __init__(
        self,
        objects: Mapping[str, Sequence[Json]] | None = None,
        *,
        token: str = TOKEN,
        tls: bool = False,
    ) -> None:
        self.state = State()
        self.token = token
        self.tls = tls
        self.forbidden: set[str] = set()
        self.unknown: set[str] = set()
        """Prefixes of paths that this server does not have."""
        self.requests: list[tuple[str, str]] = []
        self.slow_s = 0.0
        self.stopping = threading.Event()
        self._injected: dict[str, deque[Recorded | Cut]] = defaultdict(deque)
        self._sockets: set[socket] = set()
        self._port = 0
        self._begin()
        for plural, items in (objects or {}).items():
            for item in items:
                self.change("ADDED", plural, item)

    @property
    def url(self) -> str:
        return f"{'https' if self.tls else 'http'}://127.0.0.1:{self._port}"

    def asked(self, plural: str) -> list[dict[str, str]]:
        """The queries of the requests about a kind, in order."""
        found = [urlsplit(path) for _, path in self.requests]
        return [
            {name: values[0] for name, values in parse_qs(parts.query).items()}
            for parts in found
            if parts.path.rpartition("/")[2] == plural
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._end()
        written = [f"{method} {path}" for method, path in self.requests if method != "GET"]
        assert not written, f"kviz may only read, and sent {written}"

    # ------------------------------------------------------------ what happens to it

    def change(self, type_: str, plural: str, item: Json) -> int:
        """Add to the log; the resource version of the change."""
        with self.state.moved:
            self.state.resource_version += 1
            version = self.state.resource_version
            head = {
                "kind": KINDS.get(plural, "ConfigMap"),
                "apiVersion": item.get("apiVersion", "v1"),
            }
            metadata = item["metadata"] | {"resourceVersion": str(version)}
            whole = head | item | {"metadata": metadata}
            self.state.log.append(Change(version, type_, plural, whole))
            self.state.moved.notify_all()
        return version

    def compact(self) -> None:
        """Forget every state before the present one."""
        with self.state.moved:
            self.state.resource_version += 1
            self.state.oldest = self.state.resource_version

    def inject(self, plural: str, *answers: Recorded) -> None:
        """Answer the next requests for a kind with these, once each."""
        self._injected[plural].extend(answers)

    def cut(self, plural: str, after_bytes: int) -> None:
        """Let the next answer about a kind break off."""
        self._injected[plural].append(Cut(after_bytes))

    @contextmanager
    def gone(self) -> Iterator[None]:
        """Nothing listens, and open connections break, until the end of the block."""
        self._end()
        try:
            yield
        finally:
            self._begin()

    def next_injected(self, plural: str) -> Recorded | Cut | None:
        waiting = self._injected[plural]
        return waiting.popleft() if waiting else None

    def opened(self, connection: socket) -> None:
        self._sockets.add(connection)

    def closed(self, connection: socket) -> None:
        self._sockets.discard(connection)

    def _begin(self) -> None:
        self.stopping.clear()
        self._http = Listener(("127.0.0.1", self._port), Handler)
        self._http.api = self
        self._port = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, args=(TICK_S,))
        self._thread.start()

    def _end(self) -> None:
        self.stopping.set()
        with self.state.moved:
            self.state.moved.notify_all()
        self._http.shutdown()
        for connection in list(self._sockets):
            with suppress(OSError):
                connection.shutdown(SHUT_RDWR)
        self._http.server_close()
        self._thread.join()


class Listener(ThreadingHTTPServer):
    api: ApiServer
    daemon_threads = False  # the end waits for them

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients go away, and handshakes fail, on purpose."""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    @property
    def api(self) -> ApiServer:
        return cast(Listener, self.server).api

    def setup(self) -> None:
        if self.api.tls:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(DATA / "server.crt", DATA / "server.key")
            context.load_verify_locations(DATA / "ca.crt")
            context.verify_mode = ssl.CERT_OPTIONAL
            self.request = context.wrap_socket(self.request, server_side=True)
        self.api.opened(self.request)
        super().setup()

    def finish(self) -> None:
        self.api.closed(self.request)
        with suppress(OSError):
            super().finish()
        self.request.close()  # wrapped for TLS it is another than the server closes

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.api.requests.append(("GET", self.path))
        if self.api.slow_s and self.api.stopping.wait(self.api.slow_s):
            return
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        try:
            self._serve(parts.path, query)
        except OSError:
            self.close_connection = True

    def do_POST(self) -> None:
        self.api.requests.append((self.command, self.path))
        self._whole(Recorded(405, {}, b"only GET"))

    do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = do_POST

    def _serve(self, path: str, query: Mapping[str, str]) -> None:
        plural = path.rpartition("/")[2]
        if (refusal := self._refusal(path, plural)) is not None:
            return self._whole(refusal)
        injected = self.api.next_injected(plural)
        if isinstance(injected, Recorded) and not injected.cut:
            return self._whole(injected)
        if isinstance(injected, Recorded):
            return self._broken(injected.body, len(injected.body))
        if path == "/version":
            return self._whole(recorded("version"))
        if query.get("watch") in ("1", "true"):
            return self._watch(plural, query, injected)
        answer = self._list(path, plural, query)
        if isinstance(injected, Cut):
            return self._broken(answer.body, injected.after_bytes)
        return self._whole(answer)

    def _refusal(self, path: str, plural: str) -> Recorded | None:
        given = self.headers.get("Authorization", "")
        has_certificate = isinstance(self.request, ssl.SSLSocket) and self.request.getpeercert()
        if given and given.lower() != f"bearer {self.api.token}".lower():
            return recorded("unauthorized-401")
        if not (given or has_certificate) and path != "/version":
            return recorded("anonymous-403")
        if plural in self.api.forbidden:
            answer = recorded("forbidden-403-view-role-nodes")
            body = answer.body.replace(b"nodes", plural.encode())
            return Recorded(answer.status, answer.headers, body)
        if "/configmaps/" in path:  # one by its name
            return self._one_config_map(path, plural)
        if any(path.startswith(prefix) for prefix in self.api.unknown):
            return recorded("not-found-404")
        return None if plural in KINDS or path == "/version" else recorded("not-found-404")

    def _one_config_map(self, path: str, name: str) -> Recorded:
        namespace = path.split("/")[4]
        for item in self.api.state.listed("configmaps", self.api.state.resource_version):
            if key_of(item) == (namespace, name):
                return Recorded(200, {"Content-Type": "application/json"}, compact(item).encode())
        return recorded("not-found-404")

    # ------------------------------------------------------------ lists

    def _list(self, path: str, plural: str, query: Mapping[str, str]) -> Recorded:
        state = self.api.state
        with state.moved:
            start, version = 0, state.resource_version
            if "continue" in query:
                token = json.loads(base64.urlsafe_b64decode(query["continue"]))
                start = token["start"]
                version = token["rv"] if token["rv"] > 0 else version
                if version < state.oldest:
                    return _expired_continue(start)
            elif query.get("resourceVersionMatch") == "Exact":
                version = int(query["resourceVersion"])
                if version < state.oldest:
                    return recorded("list-exact-compacted-410")
            items = state.listed(plural, version)
        limit = int(query.get("limit", "0")) or len(items)
        end = start + limit
        metadata: Json = {"resourceVersion": str(version)}
        if end < len(items):
            metadata |= {"continue": _token(version, end), "remainingItemCount": len(items) - end}
        api_version = path.removeprefix("/apis/").removeprefix("/api/").rpartition("/")[0]
        body = {
            "kind": f"{KINDS[plural]}List",
            "apiVersion": api_version,
            "metadata": metadata,
            # In a list, objects do not say what they are.
            "items": [
                {name: item[name] for name in item if name not in ("kind", "apiVersion")}
                for item in items[start:end]
            ],
        }
        return Recorded(200, {"Content-Type": "application/json"}, compact(body).encode())

    # ------------------------------------------------------------ watches

    def _watch(self, plural: str, query: Mapping[str, str], cut: Cut | None) -> None:
        state = self.api.state
        since = int(query.get("resourceVersion", "0"))
        until = time.monotonic() + float(query.get("timeoutSeconds", "60"))
        self._head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
        if since < state.oldest:
            self._chunk(recorded("watch-expired-error-event").body)
            return self._chunk(b"")
        sent = 0
        while True:
            with state.moved:
                found = self._after(plural, since)
                left_s = until - time.monotonic()
                if not found and left_s > 0 and not self.api.stopping.is_set():
                    state.moved.wait(min(left_s, 1.0))
                    found = self._after(plural, since)
            for change in found:
                line = compact({"type": change.type, "object": change.object}).encode() + b"\n"
                if cut is not None and sent + len(line) > cut.after_bytes:
                    self._chunk(line[: max(cut.after_bytes - sent, 1)])
                    return self._break()
                self._chunk(line)
                sent += len(line)
                since = change.resource_version
            if self.api.stopping.is_set():
                return self._break()
            if time.monotonic() >= until:
                if query.get("allowWatchBookmarks") == "true":
                    self._chunk(self._bookmark(plural))
                return self._chunk(b"")

    def _after(self, plural: str, since: int) -> list[Change]:
        log = self.api.state.log
        return [each for each in log if each.plural == plural and each.resource_version > since]

    def _bookmark(self, plural: str) -> bytes:
        item = {
            "kind": KINDS[plural],
            "apiVersion": "v1",
            "metadata": {"resourceVersion": str(self.api.state.resource_version)},
        }
        return compact({"type": "BOOKMARK", "object": item}).encode() + b"\n"

    # ------------------------------------------------------------ bytes

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _whole(self, answer: Recorded) -> None:
        body, headers = answer.body, dict(answer.headers)
        if answer.status == 200 and "gzip" in self.headers.get("Accept-Encoding", ""):
            body, headers["Content-Encoding"] = gzip.compress(body, 1), "gzip"
        self._head(answer.status, headers | {"Content-Length": str(len(body))})
        self.wfile.write(body)

    def _broken(self, body: bytes, after_bytes: int) -> None:
        self._head(200, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"})
        self._chunk(body[:after_bytes])
        self._break()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def _break(self) -> None:
        """End the connection without the last chunk."""
        self.close_connection = True
        with suppress(OSError):
            self.request.shutdown(SHUT_RDWR)


def _token(version: int, start: int) -> str:
    return base64.urlsafe_b64encode(compact({"rv": version, "start": start}).encode()).decode()


def _expired_continue(start: int) -> Recorded:
    """The recorded 410, with a token that goes on at the present state (rv -1, as recorded)."""
    answer = recorded("continue-expired-410")
    status = json.loads(answer.body)
    status["metadata"]["continue"] = _token(-1, start)
    return Recorded(answer.status, answer.headers, compact(status).encode())
