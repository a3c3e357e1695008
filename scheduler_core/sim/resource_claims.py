"""The controller of resource claims: makes them from templates, frees and deletes unused ones.

It answers at once. As in a cluster, a claim keeps its devices until the last pod that uses it is
gone or has finished.

Upstream: v1.36 pkg/controller/resourceclaim/controller.go, and the garbage collector for claims
whose pod is gone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from scheduler_core.api import (
    KubeObject,
    ObjectMeta,
    OwnerReference,
    Pod,
    PodResourceClaim,
    PodResourceClaimStatus,
    ResourceClaim,
    ResourceClaimConsumerReference,
    ResourceClaimStatus,
    ResourceClaimTemplate,
)
from scheduler_core.api.device import DELETE_PROTECTION
from scheduler_core.changes.owners import name_suffix
from scheduler_core.sim.api_server import ApiServer
from scheduler_core.sim.clock import VirtualClock
from scheduler_core.trace.tables import TERMINAL_PHASES

MAX_BASE_LENGTH = 57
"""So long the part of a generated name may be that is not drawn."""


class ResourceClaimController:
    """A watcher of the API server."""

    def __init__(self, server: ApiServer, clock: VirtualClock) -> None:
        self._server = server
        self._clock = clock
        self._n_names = 0

    def added(self, item: KubeObject) -> None:
        if isinstance(item, Pod) and item.spec.resource_claims:
            self._soon(lambda: self._provide_claims(item.key))
        elif isinstance(item, ResourceClaimTemplate):
            self._soon(lambda: self._serve_waiting_pods(item))

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        if isinstance(old, Pod) and isinstance(new, Pod) and new.spec.resource_claims:
            if _is_done(new) and not _is_done(old):
                self._soon(lambda: self._release(new))
            elif new.spec.node_name != old.spec.node_name:
                self._soon(lambda: self._provide_claims(new.key))
        elif isinstance(new, ResourceClaim) and new.metadata.deletion_timestamp is not None:
            self._soon(lambda: self._finish_deletion(new.key))

    def deleted(self, item: KubeObject) -> None:
        if isinstance(item, Pod):
            self._soon(lambda: self._release(item))

    def _soon(self, work: Callable[[], None]) -> None:
        self._clock.call_at(self._clock.now_ns(), work)

    # ------------------------------------------------------------ claims for pods

    def _serve_waiting_pods(self, template: ResourceClaimTemplate) -> None:
        for pod in list(self._server.all(Pod)):
            uses = (use.resource_claim_template_name for use in pod.spec.resource_claims)
            if pod.namespace == template.namespace and template.name in uses:
                self._provide_claims(pod.key)

    def _provide_claims(self, key: str) -> None:
        """Make the pod's claims from their templates, and enter a bound pod in allocated ones."""
        pod = self._server.get(Pod, key)
        if pod is None or pod.metadata.deletion_timestamp is not None or _is_done(pod):
            return
        made: list[PodResourceClaimStatus] = []
        for use in pod.spec.resource_claims:
            if use.resource_claim_template_name and self._made_claim(pod, use) is None:
                claim = self._make(pod, use)
                if claim is None:
                    return
                made.append(PodResourceClaimStatus(name=use.name, resource_claim_name=claim.name))
        if made:
            names = {each.name for each in made}
            known = (s for s in pod.status.resource_claim_statuses if s.name not in names)
            status = replace(pod.status, resource_claim_statuses=(*known, *made))
            pod = self._server.update(replace(pod, status=status))
        if pod.spec.node_name:
            self._reserve(pod)

    def _made_claim(self, pod: Pod, use: PodResourceClaim) -> ResourceClaim | None:
        """Return the claim that was made for a pod; None if it is not there."""
        for made in pod.status.resource_claim_statuses:
            if made.name == use.name and made.resource_claim_name:
                claim = self._server.get(
                    ResourceClaim, f"{pod.namespace}/{made.resource_claim_name}"
                )
                return claim if claim is not None and _is_owned_by(claim, pod) else None
        return None

    def _make(self, pod: Pod, use: PodResourceClaim) -> ResourceClaim | None:
        """Create a claim from its template, None if there is no such template yet."""
        template = self._server.get(
            ResourceClaimTemplate, f"{pod.namespace}/{use.resource_claim_template_name}"
        )
        if template is None:
            return None
        self._n_names += 1
        base = f"{pod.name}-{use.name}-"[:MAX_BASE_LENGTH]
        owner = OwnerReference(
            api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True
        )
        metadata = ObjectMeta(
            name=f"{base}{name_suffix(self._n_names)}",
            namespace=pod.namespace,
            labels=template.spec.metadata.labels,
            owner_references=(owner,),
        )
        claim = ResourceClaim(metadata=metadata, spec=template.spec.spec)
        return self._server.create(claim, self._clock.now_ns())

    def _reserve(self, pod: Pod) -> None:
        for claim in list(self._claims_of(pod)):
            users = claim.status.reserved_for
            if claim.status.allocation is None or any(user.uid == pod.uid for user in users):
                continue
            user = ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)
            status = replace(claim.status, reserved_for=(*users, user))
            self._server.update(replace(claim, status=status))

    def _claims_of(self, pod: Pod) -> Iterator[ResourceClaim]:
        for use in pod.spec.resource_claims:
            if use.resource_claim_name:
                claim = self._server.get(
                    ResourceClaim, f"{pod.namespace}/{use.resource_claim_name}"
                )
            else:
                claim = self._made_claim(pod, use)
            if claim is not None:
                yield claim

    # ------------------------------------------------------------ claims without pods

    def _release(self, pod: Pod) -> None:
        """Take a pod that is done out of its claims; free those it was the last user of."""
        for claim in list(self._server.all(ResourceClaim)):
            users = claim.status.reserved_for
            left = tuple(user for user in users if user.uid != pod.uid)
            if claim.namespace == pod.namespace and len(left) < len(users):
                self._leave(claim, left)
            if _is_owned_by(claim, pod):
                self._delete(claim.key)

    def _leave(
        self, claim: ResourceClaim, users: tuple[ResourceClaimConsumerReference, ...]
    ) -> None:
        protected = DELETE_PROTECTION in claim.metadata.finalizers
        freed = protected and not users
        status = replace(claim.status, reserved_for=users)
        if freed:
            status = ResourceClaimStatus()
        claim = self._server.update(replace(claim, status=status))
        if freed:
            self._server.update(_unprotected(claim))

    def _delete(self, key: str) -> None:
        claim = self._server.get(ResourceClaim, key)
        if claim is not None and not claim.status.reserved_for:
            self._server.delete(claim)

    def _finish_deletion(self, key: str) -> None:
        """Let a claim go that is being deleted, once nobody uses it."""
        claim = self._server.get(ResourceClaim, key)
        if claim is not None and claim.metadata.deletion_timestamp is not None:
            self._delete(key)


def _unprotected(claim: ResourceClaim) -> ResourceClaim:
    left = tuple(name for name in claim.metadata.finalizers if name != DELETE_PROTECTION)
    return replace(claim, metadata=replace(claim.metadata, finalizers=left))


def _is_done(pod: Pod) -> bool:
    return pod.status.phase in TERMINAL_PHASES


def _is_owned_by(claim: ResourceClaim, pod: Pod) -> bool:
    owners = claim.metadata.owner_references
    return any(owner.controller and owner.uid == pod.uid for owner in owners)
