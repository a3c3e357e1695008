"""An HTTP server in a process of its own; each path below /NAME/ misbehaves in its own way.

Prints its port. Run with the paths of a certificate and its key to speak TLS.
"""

from __future__ import annotations

import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

OVERSIZE_BYTES = 65 * 1024 * 1024
LATE_S = 60
"""What a slow answer takes altogether: far longer than any client here waits."""
DRIP_S = 0.1
N_DRIPS = int(LATE_S / DRIP_S)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Tell which paths were asked, one per line."""
        self.answer("\n".join(self.server.asked).encode())  # type: ignore[attr-defined]

    def do_POST(self) -> None:
        self.server.asked.append(f"{self.path} {self.headers['Host']}")  # type: ignore[attr-defined]
        body = self.rfile.read(int(self.headers["Content-Length"]))
        way = self.path.strip("/").split("/")[0]
        getattr(self, f"do_{way}")(body)

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_echo(self, body: bytes) -> None:
        self.answer(body)

    def do_none(self, body: bytes) -> None:
        self.answer(b'{"NodeNames":[],"FailedNodes":{"north":"no license"}}')

    def do_error(self, body: bytes) -> None:
        self.answer(b"<html>boom</html>", 500)

    def do_malformed(self, body: bytes) -> None:
        self.answer(b"this is not json")

    def do_unknown(self, body: bytes) -> None:
        self.answer(b'{"NodeNames":["no-such-node"]}')

    def do_redirect(self, body: bytes) -> None:
        self.answer(b"", 307, Location="/echo/elsewhere")

    def do_late(self, body: bytes) -> None:
        time.sleep(LATE_S)
        self.answer(body)

    def do_cookie(self, body: bytes) -> None:
        self.answer(str(self.headers.get("Cookie", "")).encode(), 200, **{"Set-Cookie": "a=b"})

    def do_hangup(self, body: bytes) -> None:
        self.close_connection = True

    def do_oversize(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(OVERSIZE_BYTES))
        self.end_headers()
        self.drip(b" " * (1 << 20), 65, 0.0)

    def do_slowheaders(self, body: bytes) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
        self.drip(b"x", N_DRIPS, DRIP_S)

    def do_slowbody(self, body: bytes) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % N_DRIPS)
        self.drip(b" ", N_DRIPS, DRIP_S)

    def drip(self, chunk: bytes, n: int, pause_s: float) -> None:
        for _ in range(n):
            try:
                self.wfile.write(chunk)
                self.wfile.flush()
            except OSError:
                return
            time.sleep(pause_s)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []  # type: ignore[attr-defined]
    if len(sys.argv) > 1:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*sys.argv[1:])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    sys.stdout.write(f"{server.server_port}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
