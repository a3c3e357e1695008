"""Finds the rules between waiting pods in what the plugins prepared for each of them."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from scheduler_core.analysis.model.pairs import Alone
from scheduler_core.analysis.model.rules import Apart, Domains, Near, NearTerm, Rule, Spread, Wish
from scheduler_core.analysis.model.world import RestingWorld
from scheduler_core.cluster.arrays import ABSENT, BoolArray, IntArray
from scheduler_core.cluster.domains import sum_by_domain
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import HostPort
from scheduler_core.plugins.inter_pod_affinity import InterPodAffinity
from scheduler_core.plugins.inter_pod_affinity.filtering import meets_all
from scheduler_core.plugins.inter_pod_affinity.terms import Incoming, incoming, valid_terms
from scheduler_core.plugins.node_ports import ANY_ADDRESS, NodePorts, clash
from scheduler_core.plugins.pod_topology_spread.constraints import (
    NodeInclusion,
    SpreadConstraint,
    has_all_topology_keys,
)
from scheduler_core.plugins.pod_topology_spread.filtering import DomainCounts


def rules_of(world: RestingWorld, pods: Sequence[Alone], nodes: Nodes) -> Iterator[Rule]:
    """Yield the rules between some pods, one of each class."""
    yield from _port_rules(pods, nodes)
    yield from _apart_rules(world, pods, nodes)
    yield from _near_rules(world, pods, nodes)
    yield from _spread_rules(world, pods, nodes)


def _domains(nodes: Nodes, topology_key: str) -> Domains:
    column = nodes.label(topology_key)
    return Domains(column.ids.astype(np.int64), len(column.values))


def _mask(n: int, true: Sequence[int]) -> BoolArray:
    mask = np.zeros(n, np.bool_)
    mask[list(true)] = True
    return mask


def _chosen(templates: BoolArray, pods: Sequence[Alone]) -> BoolArray:
    """Return which pods' templates are chosen by `templates` (n_templates,), bool (C,)."""
    return np.array([templates[each.pod.template.index] for each in pods], np.bool_)


# ---------------------------------------------------------------- host ports


def _port_rules(pods: Sequence[Alone], nodes: Nodes) -> Iterator[Apart]:
    """Yield a rule for every port that pods want: one of them for each node."""
    wanted = [
        each.pod.template.host_ports if NodePorts.name in each.filters else () for each in pods
    ]
    on_nodes = Domains(np.arange(nodes.n), nodes.n)
    for port in _distinct(wanted):
        users = _mask(
            len(pods),
            [i for i, ports in enumerate(wanted) if any(clash(port, other) for other in ports)],
        )
        yield Apart(NodePorts.name, on_nodes, users, users)


def _distinct(wanted: Sequence[Sequence[HostPort]]) -> list[HostPort]:
    """Return distinct ports; one of any address only if nobody wants it of a certain address."""
    ports = list(dict.fromkeys(port for each in wanted for port in each))
    certain = {(port.protocol, port.port) for port in ports if port.ip != ANY_ADDRESS}
    return [
        port
        for port in ports
        if port.ip != ANY_ADDRESS or (port.protocol, port.port) not in certain
    ]


# ---------------------------------------------------------------- affinity


def _incoming(world: RestingWorld, pods: Sequence[Alone]) -> list[Incoming]:
    apart = world.handle.features.switches.unlabelled_namespaces_apart
    return [incoming(each.pod.template, world.objects, apart=apart) for each in pods]


def _apart_rules(world: RestingWorld, pods: Sequence[Alone], nodes: Nodes) -> Iterator[Apart]:
    """Yield a rule for every distinct required anti-affinity term."""
    terms = _incoming(world, pods)
    owners: dict[Hashable, list[int]] = {}
    meant: dict[Hashable, tuple[str, BoolArray]] = {}
    for number, each in enumerate(pods):
        if InterPodAffinity.name not in each.filters:
            continue
        as_written = valid_terms(each.pod.template.required_anti_affinity)
        for own, term in zip(terms[number].required_anti_affinity, as_written, strict=True):
            # The owner looks at the other as it comes, and the other at the owner as it is there.
            mask = _chosen(own.selection.templates(world.templates), pods)
            mask |= np.array([other.is_meant_by(term) for other in terms], np.bool_)
            key: Hashable = (own.topology_key, mask.tobytes())
            meant[key] = own.topology_key, mask
            owners.setdefault(key, []).append(number)
    for key, (topology_key, mask) in meant.items():
        if mask.any():
            own_mask = _mask(len(pods), owners[key])
            yield Apart(InterPodAffinity.name, _domains(nodes, topology_key), own_mask, mask)


def _near_rules(world: RestingWorld, pods: Sequence[Alone], nodes: Nodes) -> Iterator[Near]:
    """Yield a rule for every distinct set of required affinity terms."""
    found: dict[Hashable, tuple[tuple[NearTerm, ...], BoolArray]] = {}
    owners: dict[Hashable, list[int]] = {}
    for number, each in enumerate(pods):
        near = each.near
        if near is None or not near.incoming.required_affinity:
            continue
        mask = _chosen(meets_all(near.incoming, world.templates), pods)
        key: Hashable = (
            *near.affinity,
            mask.tobytes(),
            *(n.tobytes() for n in near.affinity.values()),
        )
        found[key] = (
            tuple(
                NearTerm(_domains(nodes, name), counts) for name, counts in near.affinity.items()
            ),
            mask,
        )
        owners.setdefault(key, []).append(number)
    for key, (near_terms, mask) in found.items():
        yield Near(near_terms, _mask(len(pods), owners[key]), mask)


def wishes_of(world: RestingWorld, pods: Sequence[Alone], nodes: Nodes) -> Iterator[Wish]:
    """Yield the preferred affinity terms of some pods, one of each class."""
    found: dict[Hashable, Wish] = {}
    for number, terms in enumerate(_incoming(world, pods)):
        for term in terms.preferred:
            domains = _domains(nodes, term.topology_key)
            templates = term.selection.templates(world.templates)
            there = sum_by_domain(domains.of_node, nodes.count_pods(templates), domains.n)
            mask = _chosen(templates, pods)
            key = (term.weight, domains.key, mask.tobytes(), there.tobytes())
            none: IntArray = np.zeros(len(pods), np.int64)
            wish = found.setdefault(key, Wish(term.weight, domains, there, none, mask))
            wish.owners[number] += 1
    yield from found.values()


# ---------------------------------------------------------------- spread


def _spread_rules(world: RestingWorld, pods: Sequence[Alone], nodes: Nodes) -> Iterator[Spread]:
    """Yield a rule for every distinct DoNotSchedule constraint."""
    found: dict[Hashable, Spread] = {}
    for number, each in enumerate(pods):
        if each.spread is None:
            continue
        for domains in each.spread.domains:
            if domains.constraint.selects_everything:
                continue
            rule = _spread(world, pods, each, domains, nodes)
            key = (
                rule.domains.key,
                rule.existing.tobytes(),
                rule.counted.tobytes(),
                rule.max_skew,
                rule.from_zero,
                domains.self_match,
            )
            found.setdefault(key, rule).owners[number] = True
    yield from found.values()


def _spread(
    world: RestingWorld,
    pods: Sequence[Alone],
    each: Alone,
    domains: DomainCounts,
    nodes: Nodes,
) -> Spread:
    constraint = domains.constraint
    ids = nodes.label(constraint.topology_key).ids
    return Spread(
        domains=Domains(
            np.where(_takes_part(world, each, constraint, nodes), ids, ABSENT).astype(np.int64),
            domains.counts.size,
        ),
        present=domains.present,
        existing=domains.counts,
        owners=np.zeros(len(pods), np.bool_),
        counted=_chosen(constraint.selection.templates(world.templates), pods),
        max_skew=constraint.max_skew,
        from_zero=domains.too_few_domains,
    )


def _takes_part(
    world: RestingWorld, each: Alone, constraint: SpreadConstraint, nodes: Nodes
) -> BoolArray:
    """Return the nodes where pods count for a constraint, bool (N,)."""
    assert each.spread is not None
    labelled = has_all_topology_keys(each.spread.constraints, nodes)
    inclusion = NodeInclusion(
        each.pod.pod,
        nodes,
        comparison_operators=world.handle.features.enabled("TaintTolerationComparisonOperators"),
    )
    return labelled & inclusion.of(constraint)
