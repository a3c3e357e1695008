"""One extender of the configuration, called over a transport.

Upstream: v1.36 pkg/scheduler/extender.go.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from scheduler_core.api import Container, Node, Pod
from scheduler_core.api.timestamps import timestamp_text
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import Extender
from scheduler_core.extender import wire
from scheduler_core.extender.transport import BodyFailed, TLSSettings, Transport, TransportError
from scheduler_core.framework.extenders import Candidate

# Pods and nodes in the JSON form that the scheduler sends, with the fields that kviz has.
#
# kviz keeps of an object what scheduling reads (docs/extenders.md lists the rest); what it does not
# keep is left out, never made up. As in Go, `kind` and `apiVersion` are left out too, and some
# structs appear even when they are empty.

_Document = MutableMapping[str, object]


def pod_json(pod: Pod) -> msgspec.Raw:
    """Encode a pod."""
    document = _document(pod)
    _write_times(_child(document, "metadata"), "creationTimestamp", "deletionTimestamp")
    _write_times(_child(document, "status"), "startTime")
    spec = _child(document, "spec")
    for key in ("containers", "initContainers"):
        for container in _children(spec, key):
            container.setdefault("resources", {})
    return msgspec.Raw(msgspec.json.encode(document))


def node_json(node: Node) -> msgspec.Raw:
    """Encode a node."""
    document = _document(node)
    _write_times(_child(document, "metadata"), "creationTimestamp", "deletionTimestamp")
    for taint in _children(_child(document, "spec"), "taints"):
        _write_times(taint, "timeAdded")
    _child(document, "status")
    return msgspec.Raw(msgspec.json.encode(document))


def _document(item: Pod | Node) -> _Document:
    document = msgspec.to_builtins(item)
    assert isinstance(document, dict)
    return document


def _child(document: _Document, key: str) -> _Document:
    """Return an object inside another, which gets an empty one if it has none."""
    child = document.setdefault(key, {})
    assert isinstance(child, dict)
    return child


def _children(document: _Document, key: str) -> list[_Document]:
    """Return the objects of a list, of which `document` gets copies it may change."""
    listed = document.get(key)
    if not isinstance(listed, list | tuple):
        return []
    children: list[_Document] = [child for child in listed if isinstance(child, dict)]
    document[key] = children
    return children


def _write_times(document: _Document, *keys: str) -> None:
    """Turn nanoseconds into the text the API prints."""
    for key in keys:
        value = document.get(key)
        if isinstance(value, int):
            document[key] = timestamp_text(value)


DEFAULT_TIMEOUT_NS: Final = 5_000_000_000
HTTP_OK: Final = 200


@dataclass(frozen=True, slots=True)
class Exchange:
    """What one request brought: a body, or an error in upstream's words."""

    body: bytes = b""
    error: str = ""
    status: int = 0
    duration_ns: int = 0
    n_request_bytes: int = 0


class HTTPExtender:
    """Says what the configuration says of an extender, and sends it requests."""

    def __init__(self, config: Extender, transport: Transport) -> None:
        self.name = config.url_prefix
        self.filter_verb = config.filter_verb
        self.prioritize_verb = config.prioritize_verb
        self.preempt_verb = config.preempt_verb
        self.bind_verb = config.bind_verb
        self.weight = config.weight
        self.ignorable = config.ignorable
        self.node_cache_capable = config.node_cache_capable
        self._transport = transport
        self._timeout_ns = config.http_timeout_ns or DEFAULT_TIMEOUT_NS
        self._tls = tls_settings(config)
        self._managed = frozenset(resource.name for resource in config.managed_resources)

    def is_interested(self, pod: PodInfo) -> bool:
        """Return whether a container names a managed resource, or the extender manages none."""
        spec = pod.pod.spec
        containers = (*spec.containers, *spec.init_containers)
        return not self._managed or any(self._is_asked_by(container) for container in containers)

    def _is_asked_by(self, container: Container) -> bool:
        resources = container.resources
        return not self._managed.isdisjoint((*resources.requests, *resources.limits))

    # ------------------------------------------------------------ requests

    def send_nodes(self, verb: str, pod: PodInfo, nodes: Nodes) -> Exchange:
        """Ask to filter or to prioritize nodes."""
        body = wire.extender_args(
            pod_json(pod.pod),
            nodes=None
            if self.node_cache_capable
            else [node_json(nodes.node(i)) for i in range(nodes.n)],
            names=nodes.names if self.node_cache_capable else None,
        )
        return self._send(verb, body)

    def send_candidates(self, pod: PodInfo, candidates: Sequence[Candidate]) -> Exchange:
        """Ask which of the candidates, and which victims, are fine."""
        victims: Mapping[str, wire.SentVictims] = {
            each.node_name: wire.SentVictims(
                uids=[victim.uid for victim in each.victims],
                n_pdb_violations=each.n_pdb_violations,
                pods=None
                if self.node_cache_capable
                else [pod_json(victim.pod) for victim in each.victims],
            )
            for each in candidates
        }
        body = wire.preemption_args(pod_json(pod.pod), victims, meta=self.node_cache_capable)
        return self._send(self.preempt_verb, body)

    def send_binding(self, pod: PodInfo, node_name: str) -> Exchange:
        """Tell the extender to bind."""
        body = wire.binding_args(pod.pod.name, pod.pod.namespace, pod.uid, node_name)
        return self._send(self.bind_verb, body)

    def _send(self, verb: str, body: bytes) -> Exchange:
        url = f"{self.name.rstrip('/')}/{verb}"
        n_bytes = len(body)
        try:
            reply = self._transport.post(url, body, self._timeout_ns, self._tls)
        except BodyFailed as failed:
            return Exchange(b"", failed.text, HTTP_OK, failed.duration_ns, n_bytes)
        except TransportError as failed:
            return Exchange(b"", f'Post "{url}": {failed.text}', 0, failed.duration_ns, n_bytes)
        error = ""
        if reply.status != HTTP_OK:
            error = f"failed {verb} with extender at URL {url}, code {reply.status}"
        return Exchange(reply.body, error, reply.status, reply.duration_ns, n_bytes)


def tls_settings(config: Extender) -> TLSSettings | None:
    """Return what upstream makes of `tlsConfig` and `enableHTTPS`.

    With `enableHTTPS` and without a CA the server's certificate is not checked.
    """
    tls = config.tls_config
    if tls is None:
        return TLSSettings(insecure=True) if config.enable_https else None
    unchecked = config.enable_https and not (tls.ca_data or tls.ca_file)
    return TLSSettings(
        insecure=tls.insecure or unchecked,
        server_name=tls.server_name,
        ca_data=tls.ca_data,
        cert_data=tls.cert_data,
        key_data=tls.key_data,
        ca_file=tls.ca_file,
        cert_file=tls.cert_file,
        key_file=tls.key_file,
    )
