"""Host ports and who holds them.

Upstream: v1.36 plugins/nodeports.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scheduler_core.cluster.pods import HostPort, PodInfo
from scheduler_core.evidence.requirement import AtNode, Requirement
from scheduler_core.plugins.node_ports import ANY_ADDRESS, clash, used_ports
from scheduler_core.wording import say


@dataclass(frozen=True, slots=True, kw_only=True)
class PortFree(Requirement):
    """A host port that the pod wants; `holder` is the pod of the node that has it, if any."""

    kind = "hostPort"
    port: HostPort
    holder: str = ""
    held: HostPort | None = None

    @property
    def asks(self) -> str:
        return say("ports.host_port", "host port {port}", port=port_text(self.port))

    @property
    def has(self) -> str:
        if self.held is None:
            return say("ports.free", "it free")
        if not self._address:
            return say("ports.taken", "it taken by {holder}", holder=self.holder)
        return say(
            "ports.taken_at",
            "it taken by {holder} at {address}",
            holder=self.holder,
            address=self._address,
        )

    @property
    def sentence(self) -> str:
        if self.held is None:
            return say("ports.wants_free", "wants {asks}, which is free", asks=self.asks)
        if not self._address:
            return say(
                "ports.wants_held",
                "wants {asks}, which {holder} holds",
                asks=self.asks,
                holder=self.holder,
            )
        return say(
            "ports.wants_held_at",
            "wants {asks}, which {holder} holds at {address}",
            asks=self.asks,
            holder=self.holder,
            address=self._address,
        )

    @property
    def _address(self) -> str:
        """Return under which address the port is held, empty where that is the same one."""
        if self.held is None or self.held.ip == self.port.ip:
            return ""
        return self.held.ip


def ports_free(at: AtNode) -> Iterator[PortFree]:
    """Yield the pod's host ports."""
    wanted = at.pod.template.host_ports
    used = used_ports(at.node, 0)
    pods = [pod for pod in at.node.pods(0) if pod.template.host_ports]
    for port in wanted:
        holder, held = _holder(port, pods, used)
        yield PortFree(met=held is None, port=port, holder=holder, held=held)


def _holder(
    wanted: HostPort, pods: list[PodInfo], used: set[HostPort]
) -> tuple[str, HostPort | None]:
    """Return the first pod with a port in use that clashes with the one wanted, and that port."""
    for pod in pods:
        for port in pod.template.host_ports:
            if port in used and clash(wanted, port):
                return pod.key, port
    return "", None


def port_text(port: HostPort) -> str:
    """Return a port as people write it: `8080/TCP`, with its address unless it is any."""
    at = "" if port.ip == ANY_ADDRESS else f"{port.ip}:"
    return f"{at}{port.port}/{port.protocol}"
