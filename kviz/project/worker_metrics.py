"""`/metrics` of a worker: on a separate port, under the rules of the server's `/metrics`."""

from __future__ import annotations

import logging
import os
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Final

from django.conf import settings
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import REGISTRY

from kviz.common.mode import Mode
from kviz.common.work_counts import Worked
from kviz.project.metrics import ADDRESS, may_read

log = logging.getLogger(__name__)

SILENT_S: Final = 10.0
"""A connection without a request is closed after this time."""


class _Answer(BaseHTTPRequestHandler):
    server_version = "kviz"
    sys_version = ""
    timeout = SILENT_S

    def do_GET(self) -> None:
        status, body = HTTPStatus.NOT_FOUND, b""
        if self.path == ADDRESS:
            headers = self.headers
            status = may_read(headers.get("Authorization", ""), headers.get("Host", ""))
        if status is HTTPStatus.OK:
            body = generate_latest(REGISTRY)
        self.send_response(status)
        if status is HTTPStatus.UNAUTHORIZED:
            self.send_header("WWW-Authenticate", 'Bearer realm="kviz metrics"')
        self.send_header("Content-Type", CONTENT_TYPE_LATEST if body else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: Prometheus asks four times a minute."""


def serve() -> None:
    """Answer Prometheus from now on, if a port is set; one that is taken is not worth a worker."""
    if not (port := settings.WORKER_METRICS_PORT):
        return
    host = "127.0.0.1" if settings.MODE == Mode.LOCAL else ""
    try:
        server = ThreadingHTTPServer((host, port), _Answer)
    except OSError as problem:
        log.error("no metrics of this worker on port %d: %s", port, problem.strerror)
        return
    REGISTRY.register(Worked())
    # A copy of the process may outlive it, and would keep the port.
    os.register_at_fork(after_in_child=server.socket.close)
    server.daemon_threads = True
    Thread(target=server.serve_forever, daemon=True).start()
