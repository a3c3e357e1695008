"""Calling extenders over HTTP: only listed hosts, no redirects, bounded sizes and times.

Implements `scheduler_core.extender.transport.Transport`. One object serves one run: a host is
resolved once, and connections are reused.
"""

from __future__ import annotations

import asyncio
import errno
import ssl
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

import httpx

from kviz.common.hosts import DEFAULT_PORTS, AllowedHosts, HostRefused
from scheduler_core.extender.transport import (
    TIMED_OUT,
    TIMED_OUT_READING,
    BodyFailed,
    Reply,
    RequestFailed,
    TLSSettings,
    TransportError,
)

MAX_TIMEOUT_S: Final = 20.0
"""A longer `httpTimeout` is cut: a worker must show that it lives."""
MAX_REQUEST_BYTES: Final = 256 * 1024 * 1024
MAX_REPLY_BYTES: Final = 64 * 1024 * 1024
SECOND_NS: Final = 1_000_000_000


ReadFile = Callable[[str], bytes]
"""Reads a PEM file that a configuration names. Raises OSError or RequestFailed."""


def refuse_files(path: str) -> bytes:
    """Read nothing: the files of a server are not its users'. Raises RequestFailed."""
    raise RequestFailed(
        "kviz reads no certificate files for extenders here: put the PEM text into caData, "
        "certData and keyData"
    )


def read_files(path: str) -> bytes:
    """Read any file: a user on their own machine may."""
    return Path(path).read_bytes()


class HttpTransport:
    """A real HTTP client. Use as a context manager."""

    def __init__(self, allowed: AllowedHosts, read_file: ReadFile = refuse_files) -> None:
        self._allowed = allowed
        self._read_file = read_file
        self._runner = asyncio.Runner()
        self._clients: dict[TLSSettings | None, httpx.AsyncClient] = {}
        self._addresses: dict[tuple[str, int], str] = {}

    def __enter__(self) -> HttpTransport:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        for client in self._clients.values():
            self._runner.run(client.aclose())
        self._clients.clear()
        self._runner.close()

    def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
        """Send a POST with a JSON body. Raises RequestFailed or BodyFailed."""
        started_ns = time.monotonic_ns()
        try:
            status, answer = self._runner.run(self._post(url, body, timeout_ns / SECOND_NS, tls))
        except TransportError as failed:
            failed.duration_ns = time.monotonic_ns() - started_ns
            raise
        return Reply(status, answer, time.monotonic_ns() - started_ns)

    async def _post(
        self, url: str, body: bytes, timeout_s: float, tls: TLSSettings | None
    ) -> tuple[int, bytes]:
        if len(body) > MAX_REQUEST_BYTES:
            raise RequestFailed(f"the request has more than {MAX_REQUEST_BYTES} bytes")
        reading = False
        try:
            async with asyncio.timeout(min(timeout_s, MAX_TIMEOUT_S)):
                request = await self._request(url, body, tls)
                response = await self._client(tls).send(request, stream=True)
                reading = True
                try:
                    return response.status_code, await _read(response)
                finally:
                    await response.aclose()
        except TimeoutError:
            if reading:
                raise BodyFailed(TIMED_OUT_READING) from None
            raise RequestFailed(TIMED_OUT) from None
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            text = _in_gos_words(error, urlsplit(url).netloc)
            raise BodyFailed(text) if reading else RequestFailed(text) from None

    async def _request(self, url: str, body: bytes, tls: TLSSettings | None) -> httpx.Request:
        """Build a request to the checked address that names the host it is meant for."""
        parts = _parts(url)
        host, port = _target(parts)
        address = await self._address(host, port)
        bracketed = f"[{address}]" if ":" in address else address
        server_name = (tls.server_name if tls else "") or host
        return httpx.Request(
            "POST",
            parts._replace(netloc=f"{bracketed}:{port}").geturl(),
            content=body,
            headers={
                "Host": parts.netloc.rpartition("@")[2],
                "Content-Type": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": "kviz",
            },
            extensions={"sni_hostname": server_name},
        )

    async def _address(self, host: str, port: int) -> str:
        try:
            self._allowed.check_host(host, port)
            if (host, port) not in self._addresses:
                loop = asyncio.get_running_loop()
                found = await loop.getaddrinfo(host, port, type=1)
                addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
                self._addresses[host, port] = self._allowed.pick(host, port, addresses)
        except HostRefused as refused:
            raise RequestFailed(str(refused)) from None
        except OSError:
            raise RequestFailed(f"dial tcp: lookup {host}: no such host") from None
        return self._addresses[host, port]

    def _client(self, tls: TLSSettings | None) -> httpx.AsyncClient:
        client = self._clients.get(tls)
        if client is None:
            client = self._clients[tls] = httpx.AsyncClient(
                verify=ssl_context(with_files_read(tls, self._read_file)),
                follow_redirects=False,
                trust_env=False,
                timeout=None,  # _post has one for the whole exchange
            )
        client.cookies.clear()
        return client


def _parts(url: str) -> SplitResult:
    """Take a URL apart. Raises RequestFailed."""
    try:
        return urlsplit(url)
    except ValueError as error:
        raise RequestFailed(f'parse "{url}": {error}') from None


def _target(parts: SplitResult) -> tuple[str, int]:
    """Return host and port of a URL. Raises RequestFailed."""
    if parts.scheme not in DEFAULT_PORTS:
        raise RequestFailed(f'unsupported protocol scheme "{parts.scheme}"')
    try:
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if not host:
        raise RequestFailed("http: no Host in request URL")
    return host, port or DEFAULT_PORTS[parts.scheme]


async def _read(response: httpx.Response) -> bytes:
    """Read a body as it comes, at most MAX_REPLY_BYTES. Raises BodyFailed."""
    chunks, n_bytes = [], 0
    async for chunk in response.aiter_raw():
        n_bytes += len(chunk)
        if n_bytes > MAX_REPLY_BYTES:
            raise BodyFailed(f"the answer has more than {MAX_REPLY_BYTES} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def with_files_read(tls: TLSSettings | None, read_file: ReadFile) -> TLSSettings | None:
    """Return the settings with what is in files; data goes before a file. Raises RequestFailed."""
    if tls is None:
        return None
    try:
        return replace(
            tls,
            ca_data=tls.ca_data or (read_file(tls.ca_file) if tls.ca_file else b""),
            cert_data=tls.cert_data or (read_file(tls.cert_file) if tls.cert_file else b""),
            key_data=tls.key_data or (read_file(tls.key_file) if tls.key_file else b""),
        )
    except OSError as error:
        raise RequestFailed(f"open {error.filename}: {error.strerror}") from None


def ssl_context(tls: TLSSettings | None) -> ssl.SSLContext:
    """Return how to trust a server and prove who calls. Raises RequestFailed."""
    context = ssl.create_default_context()
    if tls is None:
        return context
    if tls.insecure and tls.ca_data:
        raise RequestFailed(
            "specifying a root certificates file with the insecure flag is not allowed"
        )
    try:
        if tls.ca_data:
            context = ssl.create_default_context(cadata=tls.ca_data.decode())
        if tls.insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        if tls.cert_data:
            _load_certificate(context, tls)
    except (ssl.SSLError, ValueError) as error:
        raise RequestFailed(f"tls: {error}") from None
    return context


def _load_certificate(context: ssl.SSLContext, tls: TLSSettings) -> None:
    """Load the client's certificate; Python reads it from files only."""
    with tempfile.TemporaryDirectory() as folder:
        certificate, key = Path(folder) / "certificate", Path(folder) / "key"
        certificate.write_bytes(tls.cert_data)
        key.write_bytes(tls.key_data)
        context.load_cert_chain(certificate, key, password="")


def _in_gos_words(error: BaseException, netloc: str) -> str:
    """Format a failure as Go's client would, if its kind is known."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            return f"tls: failed to verify certificate: {seen.verify_message}"
        if isinstance(seen, ConnectionRefusedError):
            return f"dial tcp {netloc}: connect: connection refused"
        if isinstance(seen, ConnectionResetError):
            return "read tcp: read: connection reset by peer"
        if isinstance(seen, OSError) and seen.errno in (errno.EHOSTUNREACH, errno.ENETUNREACH):
            return f"dial tcp {netloc}: connect: no route to host"
        seen = seen.__cause__ or seen.__context__
    if isinstance(error, httpx.RemoteProtocolError):
        return "EOF"
    return str(error) or type(error).__name__
