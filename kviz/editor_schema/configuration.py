"""KubeSchedulerConfiguration v1, from the types that the engine decodes it into."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import msgspec
from msgspec import inspect

from kviz.editor_schema.schema import Field, FieldType, Schema
from scheduler_core.api.types import (
    LabelSelector,
    LabelSelectorRequirement,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
    TopologySpreadConstraint,
)
from scheduler_core.config.types import (
    API_VERSION,
    ARGS_TYPES,
    KIND,
    POD_GROUP_POST_FILTER,
    ClientConnection,
    DefaultingType,
    Extender,
    ExtenderManagedResource,
    ExtenderTLSConfig,
    LeaderElection,
    Plugin,
    Plugins,
    PodTopologySpreadArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    ScoringStrategyType,
    UtilizationShapePoint,
)
from scheduler_core.config.v1 import ConfigurationV1, PluginConfigV1, ProfileV1
from scheduler_core.registry import in_tree_registry
from scheduler_core.releases import RELEASES
from scheduler_core.wording import Text, say

SCALARS: Final[Mapping[type[inspect.Type], FieldType]] = {
    inspect.StrType: "string",
    inspect.IntType: "integer",
    inspect.FloatType: "number",
    inspect.BoolType: "boolean",
    inspect.Metadata: "string",  # a duration, as Go writes it
}


DOCS: Final[Mapping[type[msgspec.Struct], Text]] = {
    ClientConnection: say(
        "schema.unused_client", "Checked and not used: the simulation talks to no API server."
    ),
    Extender: say("schema.extender", "An HTTP extender. A verb that is empty is not called."),
    ExtenderManagedResource: say(
        "schema.managed_resource", "An extended resource that an extender looks after."
    ),
    ExtenderTLSConfig: say(
        "schema.tls", "TLS settings of an extender; fields with Data go before files."
    ),
    LeaderElection: say(
        "schema.unused_leader", "Checked and not used: the simulation has one scheduler."
    ),
    NodeAffinity: say(
        "schema.added_affinity", "Has to hold for every pod, in addition to the pod's own."
    ),
    NodeSelector: say("schema.terms", "Terms of which one must hold."),
    NodeSelectorRequirement: say(
        "schema.node_requirement", "A requirement on a label or a field of a node."
    ),
    NodeSelectorTerm: say(
        "schema.node_term", "Requirements that must all hold; a term without any matches nothing."
    ),
    Plugin: say(
        "schema.plugin", "A plugin by its name; without a weight it has its default weight."
    ),
    PluginConfigV1: say("schema.plugin_args", "The arguments of one plugin."),
    Plugins: say(
        "schema.plugins",
        "What is enabled and disabled at each extension point; multiPoint means all points.",
    ),
    PreferredSchedulingTerm: say(
        "schema.preferred_term", "A term with the weight that it adds where it holds."
    ),
    ProfileV1: say("schema.profile", "A scheduler name with its plugins and their arguments."),
    RequestedToCapacityRatioParam: say(
        "schema.shape", "The scoring function, as points of a line."
    ),
    ResourceSpec: say("schema.resource", "A resource to score, with its weight."),
    ScoringStrategy: say("schema.scoring_strategy", "How NodeResourcesFit scores."),
    TopologySpreadConstraint: say(
        "schema.spread_constraint", "A spread constraint for pods without one."
    ),
    LabelSelector: say(
        "schema.label_selector",
        "A selector over labels: without one nothing matches, an empty one everything.",
    ),
    LabelSelectorRequirement: say("schema.label_requirement", "A requirement on a label."),
    UtilizationShapePoint: say(
        "schema.shape_point", "A point: utilization from 0 to 100 percent, score from 0 to 10."
    ),
}
"""What the editor says of a field of each type."""


def configuration_schema() -> Schema:
    """A whole configuration file, with the arguments of all plugins in the tree."""
    schema = Schema(roots={"": ConfigurationV1.__name__})
    _add(schema, ConfigurationV1)
    for plugin, args in ARGS_TYPES.items():
        _add(schema, args)
        _put(schema, PluginConfigV1, "args", Field("object", of=args.__name__), when=plugin)
    with_groups = tuple(
        name for name, each in RELEASES.items() if each.switches.group_post_filter_sets
    )
    of_groups = replace(schema.types[Plugins.__name__][POD_GROUP_POST_FILTER], releases=with_groups)
    _put(schema, Plugins, POD_GROUP_POST_FILTER, of_groups)
    for at, name, values in _known_values():
        _put(schema, at, name, Field("string", values=tuple(values)))
    return schema


def _known_values() -> list[tuple[type[msgspec.Struct], str, list[str]]]:
    """Values of strings that the types leave open, because validation checks them."""
    plugins = sorted(in_tree_registry())
    return [
        (ConfigurationV1, "apiVersion", [API_VERSION]),
        (ConfigurationV1, "kind", [KIND]),
        (Plugin, "name", [*plugins, "*"]),
        (PluginConfigV1, "name", list(ARGS_TYPES)),
        (ScoringStrategy, "type", list(ScoringStrategyType)),
        (PodTopologySpreadArgs, "defaultingType", list(DefaultingType)),
    ]


def _put(
    schema: Schema, at: type[msgspec.Struct], name: str, field: Field, *, when: str = ""
) -> None:
    """Set a field; `when` the object's `name` has that value, it is the field's type."""
    schema.types[at.__name__][f"{name}@{when}" if when else name] = field


def _add(schema: Schema, of: type[msgspec.Struct]) -> None:
    if of.__name__ in schema.types:
        return
    fields = schema.types[of.__name__] = {}
    found = inspect.type_info(of)
    assert isinstance(found, inspect.StructType)
    for each in found.fields:
        fields[each.encode_name] = _field(schema, each)


def _field(schema: Schema, field: inspect.Field) -> Field:
    wanted = _bare(field.type)
    match wanted:
        case inspect.StructType():
            return _object(schema, wanted.cls)
        case inspect.VarTupleType() | inspect.ListType():
            item = _bare(wanted.item_type)
            if isinstance(item, inspect.StructType):
                return _object(schema, item.cls, is_list=True)
            return Field(SCALARS.get(type(item), "any"), is_list=True)
        case inspect.DictType():
            item = _bare(wanted.value_type)
            return Field(SCALARS.get(type(item), "any"), is_map=True)
        case _:
            return Field(SCALARS.get(type(wanted), "any"), default=_default(field.default))


def _object(schema: Schema, of: type[msgspec.Struct], *, is_list: bool = False) -> Field:
    _add(schema, of)
    return Field("object", of=of.__name__, is_list=is_list, doc=DOCS.get(of, ""))


def _bare(wanted: inspect.Type) -> inspect.Type:
    """Return what is left of a type without None."""
    if isinstance(wanted, inspect.UnionType):
        return next(each for each in wanted.types if not isinstance(each, inspect.NoneType))
    return wanted


def _default(value: object) -> str:
    """Return how a default is written in a file, empty if there is none to speak of."""
    match value:
        case bool():
            return str(value).lower()
        case int() | str() if value:
            return str(value)
        case _:
            return ""
