"""One context, or the cluster a pod runs in, as everything that a connection needs."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from kviz.clusters.reading.credentials import Bearer, TokenFile, credentials_of, pem_of
from kviz.clusters.reading.kubeconfig import (
    Cluster,
    Kubeconfig,
    Placed,
    kubeconfig_paths,
    read_kubeconfig,
)
from kviz.clusters.reading.problems import ContextRefused, require_client
from scheduler_core.extender.transport import TLSSettings

Protection = Literal["verified", "unverified", "unencrypted"]
"""TLS with a certificate that is checked, TLS with any certificate, or plain HTTP."""

IN_CLUSTER: Final = "in-cluster"
SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")
SERVICE_HOST: Final = "KUBERNETES_SERVICE_HOST"
EXEC_EXTENSION: Final = "client.authentication.k8s.io/exec"


@dataclass(frozen=True, kw_only=True)
class Target:
    """An API server, how to trust it, and the credentials."""

    name: str
    """Of the context."""
    server: str
    namespace: str
    """That commands mean which name none."""
    tls: TLSSettings = field(repr=False)
    bearer: Bearer | None = field(repr=False)
    proxy_url: str = field(default="", repr=False)
    """Empty: what the environment says (`HTTPS_PROXY`, `NO_PROXY`)."""
    compressed: bool = True
    """Whether answers may be gzipped."""

    @property
    def protection(self) -> Protection:
        return protection_of(self.server, insecure=self.tls.insecure)


def protection_of(server: str, *, insecure: bool) -> Protection:
    """What keeps others from reading along or pretending to be the server."""
    if not server.lower().startswith("https:"):
        return "unencrypted"
    return "unverified" if insecure else "verified"


def chosen_target(given: Path | None, name: str, environment: Mapping[str, str]) -> Target:
    """The target that a command means, found as kubectl finds it. Raises ContextRefused.

    Without any kubeconfig it is the cluster that kviz runs in.
    """
    paths = kubeconfig_paths(given, environment)
    if not paths and SERVICE_HOST in environment:
        return in_cluster_target(environment)
    if not paths:
        raise ContextRefused(
            "There is no kubeconfig: name one with --kubeconfig or KUBECONFIG, or put it where "
            "kubectl looks for it (~/.kube/config)."
        )
    return target_of(read_kubeconfig(paths), name)


def target_of(kubeconfig: Kubeconfig, name: str = "") -> Target:
    """A context by name, the current one without. Raises ContextRefused.

    Runs an exec plugin if the user has one.
    """
    chosen = kubeconfig.context_named(name)
    context = kubeconfig.contexts[chosen].entry
    cluster, user = kubeconfig.clusters.get(context.cluster), kubeconfig.users.get(context.user)
    if cluster is None:
        raise ContextRefused(
            f"Context {chosen} names the cluster {context.cluster!r}, which is not there."
        )
    if user is None:
        raise ContextRefused(
            f"Context {chosen} names the user {context.user!r}, who is not there: kviz would ask "
            "as nobody (system:anonymous)."
        )
    entry = cluster.entry
    server, authority = checked_server(entry.server, chosen), _authority(cluster)
    credentials = credentials_of(context.user, user, _told(entry, authority))
    return Target(
        name=chosen,
        server=server,
        namespace=context.namespace or "default",
        tls=TLSSettings(
            insecure=entry.insecure_skip_tls_verify,
            server_name=entry.tls_server_name,
            ca_data=authority,
            cert_data=credentials.certificate.certificate,
            key_data=credentials.certificate.key,
        ),
        bearer=credentials.bearer,
        proxy_url=entry.proxy_url,
        compressed=not entry.disable_compression,
    )


def in_cluster_target(environment: Mapping[str, str], folder: Path = SERVICE_ACCOUNT) -> Target:
    """The cluster that kviz itself runs in, as its service account. Raises ContextRefused."""
    require_client()
    from kubernetes.client import Configuration  # large: loaded when it is needed
    from kubernetes.config import ConfigException
    from kubernetes.config.incluster_config import InClusterConfigLoader

    token, authority = folder / "token", folder / "ca.crt"
    settings = Configuration()
    try:
        InClusterConfigLoader(
            token_filename=str(token), cert_filename=str(authority), environ=environment
        ).load_and_set(settings)
    except ConfigException as error:
        raise ContextRefused(f"kviz does not run in a pod of a cluster: {error}") from None
    namespace = folder / "namespace"
    return Target(
        name=IN_CLUSTER,
        server=settings.host,
        namespace=namespace.read_text().strip() if namespace.is_file() else "default",
        tls=TLSSettings(ca_data=pem_of("", authority, "certificate authority")),
        bearer=TokenFile(token),
    )


def checked_server(server: str, context: str) -> str:
    """The server's address without its last slash. Raises ContextRefused."""
    try:
        parts = urlsplit(server)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        fits = False
    if not fits:
        raise ContextRefused(f"The server of context {context} is not an http(s) address.")
    if parts.username or parts.password:
        raise ContextRefused(f"The server of context {context} has credentials in its address.")
    return server.rstrip("/")


def _authority(cluster: Placed[Cluster]) -> bytes:
    """The trusted authorities, as PEM; empty: those of this machine. Raises ContextRefused."""
    entry = cluster.entry
    path = cluster.folder / entry.certificate_authority if entry.certificate_authority else None
    authority = pem_of(entry.certificate_authority_data, path, "certificate authority")
    if authority and entry.insecure_skip_tls_verify:
        raise ContextRefused(
            "The cluster has both a certificate authority and insecure-skip-tls-verify; kubectl "
            "refuses that, too. Remove one of them."
        )
    return authority


def _told(cluster: Cluster, authority: bytes) -> Mapping[str, object]:
    """What an exec plugin gets about the cluster if it needs that (`provideClusterInfo`)."""
    told: dict[str, object] = {
        "server": cluster.server,
        "tls-server-name": cluster.tls_server_name,
        "insecure-skip-tls-verify": cluster.insecure_skip_tls_verify,
        "certificate-authority-data": b64encode(authority).decode(),
        "proxy-url": cluster.proxy_url,
        "disable-compression": cluster.disable_compression,
        "config": next(
            (each.extension for each in cluster.extensions or () if each.name == EXEC_EXTENSION),
            None,
        ),
    }
    return {key: value for key, value in told.items() if value}
