"""Requests to an API server: lists in pages, watches as lines. Nothing but GET is ever sent.

The official client carries the requests; kviz reads the answers itself, as bytes (its typed models
cost 25 times as much). Nothing is asked again here and redirects are not followed: who calls
decides, by the type of the problem.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Final

import msgspec

from kviz.clusters.reading.answers import Answer, refusal_of, status_of_line
from kviz.clusters.reading.problems import (
    ContextRefused,
    NotFound,
    StreamCut,
    Unreachable,
    Untrusted,
    require_client,
)
from kviz.clusters.reading.resources import Resource
from kviz.clusters.reading.targets import Target

if TYPE_CHECKING:
    from kubernetes.client import ApiClient
    from urllib3.response import BaseHTTPResponse

PAGE_OBJECTS: Final = 500
CONNECT_TIMEOUT_S: Final = 10.0
READ_TIMEOUT_S: Final = 60.0
"""Without a byte for so long, a list counts as broken off."""
WATCH_S: Final = 240
"""The server ends a watch after so long, unless another time is asked for."""
CHUNK_BYTES: Final = 64 * 1024
MAX_PROBLEM_BYTES: Final = 64 * 1024
MAX_LINE_BYTES: Final = 64 * 1024 * 1024
MAX_PAGE_BYTES: Final = 512 * 1024 * 1024
CONNECTIONS: Final = 32


@dataclass(frozen=True)
class Page:
    """One page of a list, still as JSON; `continue_token` is empty on the last."""

    data: bytes
    resource_version: str
    continue_token: str
    n_left: int = 0
    """Objects after this page, if the server says."""


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    continue_token: str = msgspec.field(name="continue", default="")
    remaining_item_count: int | None = None


class _ListHead(msgspec.Struct):
    metadata: _ListMeta


_HEADS = msgspec.json.Decoder(_ListHead)


class Connection:
    """A way to one API server; may be used by several threads. Use as a context manager."""

    def __init__(self, target: Target) -> None:
        """Connects to nothing yet. Raises ContextRefused for certificates that are none."""
        self.target = target
        self._client = _client(target)
        self._versions: dict[str, str] = {}
        """The API version that each kind turned out to have."""

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close all idle connections."""
        self._client.close()

    def pages(self, resource: Resource, resource_version: str = "") -> Iterator[Page]:
        """A list page by page, all at one resource version: the one given, else the newest.

        Raises Expired when the state was forgotten meanwhile: the pages so far are then worth
        nothing, unless its `continue_token` is used.
        """
        page = self.page(resource, resource_version=resource_version)
        yield page
        while page.continue_token:
            page = self.page(resource, continue_token=page.continue_token)
            yield page

    def page(
        self,
        resource: Resource,
        *,
        continue_token: str = "",
        resource_version: str = "",
        limit: int = PAGE_OBJECTS,
    ) -> Page:
        """One page; `limit` 0 asks for the whole list. Raises ClusterProblem."""
        query = {"limit": str(limit)} if limit else {}
        if continue_token:
            query["continue"] = continue_token
        elif resource_version:
            query |= {"resourceVersion": resource_version, "resourceVersionMatch": "Exact"}
        with self._answer_of(resource, query, READ_TIMEOUT_S) as response:
            data = b"".join(_chunks(response, MAX_PAGE_BYTES))
        try:
            meta = _HEADS.decode(data).metadata
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise StreamCut(f"The list of {resource.name} is not a list in JSON.") from None
        n_left = meta.remaining_item_count or 0
        return Page(data, meta.resource_version, meta.continue_token, n_left)

    def watch(
        self, resource: Resource, resource_version: str, *, timeout_s: int = WATCH_S
    ) -> Iterator[bytes]:
        """What happens after a resource version, a JSON object a line, with bookmarks.

        Ends when the server ends it, after `timeout_s` at the latest. Raises Expired when the
        resource version is too old, also where that comes as a line; StreamCut when the stream
        breaks off, without the line that it broke off in; and any other ClusterProblem. Close the
        iterator to end it earlier.
        """
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "timeoutSeconds": str(timeout_s),
        }
        with self._answer_of(resource, query, timeout_s + READ_TIMEOUT_S) as response:
            for line in _lines(response):
                if failed := status_of_line(line):
                    raise failed
                yield line

    def get(self, path: str) -> bytes:
        """The answer to a request for a path such as `/version`. Raises ClusterProblem."""
        with self._response(path, {}, READ_TIMEOUT_S) as response:
            return b"".join(_chunks(response, MAX_PAGE_BYTES))

    @contextmanager
    def _answer_of(
        self, resource: Resource, query: Mapping[str, str], read_timeout_s: float
    ) -> Iterator[BaseHTTPResponse]:
        """The answer for a kind, at the newest API version that the server and kviz know."""
        known = self._versions.get(resource.kind)
        versions = (known,) if known else resource.api_versions
        for version in versions:
            try:
                with self._response(resource.path(version), query, read_timeout_s) as response:
                    self._versions[resource.kind] = version
                    yield response
                    return
            except NotFound:
                if version == versions[-1]:
                    raise

    @contextmanager
    def _response(
        self, path: str, query: Mapping[str, str], read_timeout_s: float
    ) -> Iterator[BaseHTTPResponse]:
        with _told_apart(self.target):
            response = self._send(path, query, read_timeout_s)
            done = False
            try:
                if response.status != 200:
                    body = response.read(MAX_PROBLEM_BYTES, decode_content=True)
                    raise refusal_of(Answer(response.status, response.headers, body))
                yield response
                done = True
            finally:
                # What was read to its end goes back to the pool; anything else is not reusable.
                response.release_conn() if done else response.close()

    def _send(self, path: str, query: Mapping[str, str], read_timeout_s: float) -> BaseHTTPResponse:
        headers = {"Accept": "application/json"}
        if self.target.compressed:
            headers["Accept-Encoding"] = "gzip"
        request = self._client.param_serialize(
            "GET",
            path,
            query_params=list(query.items()),
            header_params=headers,
            auth_settings=["BearerToken"],
        )
        answer = self._client.call_api(
            *request, _request_timeout=(CONNECT_TIMEOUT_S, read_timeout_s)
        )
        response: BaseHTTPResponse = answer.response
        return response


def _client(target: Target) -> ApiClient:
    """The official client for a target: verified TLS, no retries, no redirects."""
    require_client()
    import urllib3
    from kubernetes.client import ApiClient, Configuration  # large: loaded when it is needed

    from kviz.common.extender_http import ssl_context
    from scheduler_core.extender.transport import RequestFailed

    configuration = Configuration(host=target.server)
    configuration.retries = False
    configuration.keep_alive = True
    configuration.connection_pool_maxsize = CONNECTIONS
    configuration.verify_ssl = not target.tls.insecure
    configuration.tls_server_name = target.tls.server_name or None
    if target.proxy_url:
        configuration.proxy, configuration.no_proxy = target.proxy_url, ""
        if auth := urllib3.util.parse_url(target.proxy_url).auth:
            configuration.proxy_headers = urllib3.make_headers(proxy_basic_auth=auth)
    if (bearer := target.bearer) is not None:
        configuration.api_key["BearerToken"] = ""

        def renew(settings: Configuration) -> None:
            settings.api_key["BearerToken"] = f"Bearer {bearer.token()}"

        configuration.refresh_api_key_hook = renew
    if target.protection == "unverified":
        # It would be a warning for each request; kviz says it once, where people look.
        urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)
    client = ApiClient(configuration)
    client.user_agent = "kviz"
    if target.protection != "unencrypted":
        try:
            # Made here, so that keys are on no disk longer than it takes to load them.
            context = ssl_context(target.tls)
        except RequestFailed as failed:
            raise ContextRefused(f"The certificates of {target.name}: {failed.text}.") from None
        client.rest_client.pool_manager.connection_pool_kw["ssl_context"] = context
    return client


@contextmanager
def _told_apart(target: Target) -> Iterator[None]:
    """Turn what the client raises into problems, without its texts: they may hold secrets."""
    import urllib3.exceptions as http
    from kubernetes.client.exceptions import ApiException

    try:
        yield
    except (http.HTTPError, ApiException, OSError) as error:
        raise _problem(error, target) from None


def _problem(error: BaseException, target: Target) -> Unreachable | StreamCut:
    import urllib3.exceptions as http

    server = target.server
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return Untrusted(
                f"{server} could not prove to be the API server of context {target.name}: "
                f"{cause.verify_message or 'its certificate is not valid'}."
            )
        if isinstance(cause, http.ProxyError):
            return Unreachable(f"The proxy on the way to {server} does not answer.")
        if isinstance(cause, ConnectionRefusedError):
            return Unreachable(f"Nothing listens at {server}.")
        if isinstance(cause, http.NameResolutionError):
            return Unreachable(f"The name in {server} is not known.")
    if isinstance(error, http.ConnectTimeoutError):
        return Unreachable(f"{server} did not answer within {CONNECT_TIMEOUT_S:.0f} s.")
    if isinstance(error, http.ReadTimeoutError):
        return StreamCut(f"{server} fell silent.")
    if isinstance(error, http.ProtocolError | http.DecodeError | OSError):
        return StreamCut(f"The connection to {server} broke off.")
    if any(isinstance(cause, ssl.SSLError) for cause in _causes(error)):
        return Untrusted(f"{server} does not speak TLS as kviz does, or refused the certificate.")
    return Unreachable(f"{server} cannot be reached ({type(error).__name__}).")


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and what led to it, `reason`s of urllib3's errors included."""
    seen: BaseException | None = error
    for _ in range(8):
        if seen is None:
            return
        yield seen
        reason = getattr(seen, "reason", None)
        original = getattr(seen, "original_error", None)
        follows = (reason, original, seen.__cause__, seen.__context__)
        inner = [each for each in follows if isinstance(each, BaseException)]
        inner += [each for each in seen.args if isinstance(each, BaseException)]
        seen = inner[0] if inner else None


def _chunks(response: BaseHTTPResponse, max_bytes: int) -> Iterator[bytes]:
    n_bytes = 0
    for chunk in response.stream(CHUNK_BYTES, decode_content=True):
        n_bytes += len(chunk)
        if n_bytes > max_bytes:
            raise StreamCut(f"The answer has more than {max_bytes >> 20} MiB.")
        yield chunk


def _lines(response: BaseHTTPResponse) -> Iterator[bytes]:
    """Whole lines as they come. Raises StreamCut for what ends within one."""
    rest = b""
    for chunk in response.stream(CHUNK_BYTES, decode_content=True):
        *whole, rest = (rest + chunk).split(b"\n")
        if len(rest) > MAX_LINE_BYTES:
            raise StreamCut(f"A line has more than {MAX_LINE_BYTES >> 20} MiB.")
        yield from (line for line in whole if line)
    if rest.strip():
        raise StreamCut("The stream ended in the middle of a line.")
