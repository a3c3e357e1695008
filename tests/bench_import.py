"""How long importing a cluster takes: `python -m tests.bench_import [NODES] [PODS]`.

A server in a process of its own plays the recorded form of answers: pages of 500, gzipped, every
object as a real API server sent it (managedFields and all) under names of its own. Prints seconds
by the clock and of CPU, what the pages weigh, and how much memory the import took beyond what the
process had when it began; beside a calibration, how long this machine takes for ten million
additions.
"""

from __future__ import annotations

import gzip
import json
import multiprocessing
import resource
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from urllib.parse import parse_qs, urlsplit

from kviz.clusters.importing import import_cluster
from kviz.clusters.reading.connection import PAGE_OBJECTS
from kviz.clusters.reading.credentials import FixedToken
from kviz.clusters.reading.targets import Target
from scheduler_core.api.packing import pack
from scheduler_core.extender.transport import TLSSettings
from tests.clusters.api_server import DATA, KINDS, Json, compact

MIB = 1024 * 1024


def recorded_node() -> Json:
    found: Json = json.loads((DATA / "nodes-page-1.json").read_text())["body"]["items"][1]
    return found


def recorded_pod() -> Json:
    """A pod that runs, without what only watches say of an object."""
    lines = json.loads((DATA / "watch-pods-bind-and-delete.json").read_text())["bodyLines"]
    found: Json = next(
        line["object"] for line in lines if line["object"].get("spec", {}).get("nodeName")
    )
    return {name: found[name] for name in ("metadata", "spec", "status")}


def pages_of(plural: str, template: Json, count: int, n_nodes: int) -> list[bytes]:
    """The pages of a list, gzipped; objects differ in their names, pods also in their nodes."""
    pages = []
    for start in range(0, max(count, 1), PAGE_OBJECTS):
        end = min(start + PAGE_OBJECTS, count)
        metadata = {"resourceVersion": "1000"} | ({"continue": str(end)} if end < count else {})
        items = [_copy(template, plural, number, n_nodes) for number in range(start, end)]
        kind = f"{KINDS[plural]}List"
        page = {"kind": kind, "apiVersion": "v1", "metadata": metadata, "items": items}
        pages.append(compact(page).encode())
    return pages


def _copy(template: Json, plural: str, number: int, n_nodes: int) -> Json:
    name = f"{plural[:-1]}-{number:05}"
    item = dict(template)
    item["metadata"] = template["metadata"] | {"name": name, "uid": f"{name}-{number:032x}"}
    if plural == "pods":
        item["spec"] = template["spec"] | {"nodeName": f"node-{number % n_nodes:05}"}
    return item


def serve(n_nodes: int, n_pods: int, ready: Connection) -> None:
    raw = {
        "nodes": pages_of("nodes", recorded_node(), n_nodes, n_nodes),
        "pods": pages_of("pods", recorded_pod(), n_pods, n_nodes),
    }
    pages = {plural: [gzip.compress(page, 6) for page in of] for plural, of in raw.items()}
    nothing = gzip.compress(b'{"kind":"List","metadata":{"resourceVersion":"1000"},"items":[]}')

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            start = int(parse_qs(parts.query).get("continue", ["0"])[0])
            found = pages.get(parts.path.rpartition("/")[2])
            body = found[start // PAGE_OBJECTS] if found else nothing
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    n_bytes = sum(len(page) for of in raw.values() for page in of)
    n_sent = sum(len(page) for of in pages.values() for page in of)
    ready.send((server.server_address[1], n_bytes, n_sent))
    server.serve_forever()


def calibration_s() -> float:
    began_s, total = time.process_time(), 0
    for number in range(10_000_000):
        total += number
    return time.process_time() - began_s


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(n_nodes: int, n_pods: int) -> None:
    here, there = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    process = context.Process(target=serve, args=(n_nodes, n_pods, there), daemon=True)
    process.start()
    port, n_bytes, n_sent = here.recv()
    target = Target(
        name="bench",
        server=f"http://127.0.0.1:{port}",
        namespace="default",
        tls=TLSSettings(),
        bearer=FixedToken("bench"),
    )
    before_mib, began_s, began_cpu_s = peak_mib(), time.monotonic(), time.process_time()
    found = import_cluster(target)
    import_s, import_cpu_s = time.monotonic() - began_s, time.process_time() - began_cpu_s
    import_mib = peak_mib() - before_mib
    packed = pack(found.ingested.objects)
    process.terminate()
    process.join()
    told = (
        f"{found.ingested.counts}, {n_bytes / MIB:.0f} MiB of JSON, {n_sent / MIB:.1f} gzipped",
        f"imported in {import_s:.1f} s ({import_cpu_s:.1f} s CPU), {import_mib:.0f} MiB more",
        f"packed as {len(packed) / MIB:.1f} MiB, {peak_mib() - before_mib:.0f} MiB more",
        f"calibration {calibration_s():.2f} s",
    )
    sys.stdout.write("\n".join(told) + "\n")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    measure(*(given or (5_000, 20_000)))
