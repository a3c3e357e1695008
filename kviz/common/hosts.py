"""Which addresses kviz may call: those the operator listed, and nothing else.

`KVIZ_EXTENDER_HOSTS` is a comma-separated list of

* names or addresses, with or without a port: `extender.example.com`, `10.0.0.7:8888`, `[::1]:9000`;
* networks: `10.20.0.0/16`.

A URL's host (and port) must be listed. A name is resolved once, and the connection goes to the
address that was checked. An address that is not public (loopback, private, link-local, where
clouds keep their metadata, ...) must be listed itself, or its network, whatever name leads there.
`localhost` stands for the loopback addresses.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import urlsplit

from scheduler_core.wording import say, told

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

DEFAULT_PORTS: Final = {"http": 80, "https": 443}
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
LOOPBACK = ("127.0.0.1", "::1")


class HostRefused(Exception):
    """A host or address that may not be called; the message says why."""


@dataclass
class AllowedHosts:
    """The operator's list, read."""

    hosts: set[tuple[str, int | None]] = field(default_factory=set)
    networks: list[Network] = field(default_factory=list)

    @staticmethod
    def parse(words: Iterable[str]) -> AllowedHosts:
        """Read the list. Raises ValueError for an entry that is none."""
        allowed = AllowedHosts()
        for word in words:
            if "/" in word:
                allowed.networks.append(ipaddress.ip_network(word))
                continue
            host, port = _split(word)
            allowed.hosts.add((host, port))
            if host == "localhost":
                allowed.hosts.update((address, port) for address in LOOPBACK)
        return allowed

    def check_host(self, host: str, port: int) -> None:
        """Raise HostRefused unless the host of a URL is listed."""
        if not self._lists(_canonical(host), port):
            raise HostRefused(
                say(
                    "extender.host_not_allowed",
                    "kviz may not call {host}: the operator has not listed it in "
                    "KVIZ_EXTENDER_HOSTS",
                    host=f"{host}:{port}",
                )
            )

    def refusal(self, url: str) -> str:
        """Return why a URL's host may not be called, empty if it may, or if it has none."""
        try:
            parts = urlsplit(url)
            host, port = parts.hostname, parts.port
        except ValueError:
            return ""
        if not host or parts.scheme not in DEFAULT_PORTS:
            return ""
        try:
            self.check_host(host, port or DEFAULT_PORTS[parts.scheme])
        except HostRefused as refused:
            return told(refused)
        return ""

    def pick(self, host: str, port: int, addresses: Sequence[str]) -> str:
        """Return the first of a host's addresses that may be called. Raises HostRefused."""
        for text in addresses:
            address = _effective(ipaddress.ip_address(text.partition("%")[0]))
            if _is_public(address) or self._lists(str(address), port):
                return text
        shown = ", ".join(addresses) or "no address"
        raise HostRefused(
            f"kviz may not call {host}:{port}: it leads to {shown}, which is not public and not "
            "listed itself in KVIZ_EXTENDER_HOSTS"
        )

    def _lists(self, host: str, port: int) -> bool:
        if (host, port) in self.hosts or (host, None) in self.hosts:
            return True
        try:
            address = ipaddress.ip_address(host)
        except ValueError:
            return False
        return any(address in network for network in self.networks)


def _split(word: str) -> tuple[str, int | None]:
    """Return host and port of a list entry. Raises ValueError."""
    host, port = word, ""
    if word.startswith("["):
        host, _, port = word[1:].partition("]")
        port = port.removeprefix(":")
    elif word.count(":") == 1:
        host, _, port = word.partition(":")
    if not host or (port and not (port.isdecimal() and 0 < int(port) < 65536)):
        raise ValueError(f"{word!r} is no host, host:port or network")
    return _canonical(host), int(port) if port else None


def _canonical(host: str) -> str:
    """Return a name in lower case, an address in its usual form."""
    try:
        return str(_effective(ipaddress.ip_address(host)))
    except ValueError:
        return host.lower().rstrip(".")


def _effective(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 one stands for, else the address."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: Address) -> bool:
    return address.is_global and not address.is_multicast
