"""Loading a KubeSchedulerConfiguration as kube-scheduler does: decode, default, validate.

Upstream: v1.36 cmd/kube-scheduler/app/options/configfile.go.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scheduler_core.api.config_maps import configuration_in
from scheduler_core.config.decode import decode
from scheduler_core.config.defaults import configuration, default_args
from scheduler_core.config.features import FeatureGates
from scheduler_core.config.old_names import OLD_NAMES, with_hint
from scheduler_core.config.old_settings import OLD_FIELDS, with_version_hint
from scheduler_core.config.problems import ConfigError, Path, Problem
from scheduler_core.config.source import located, text_value
from scheduler_core.config.types import (
    API_VERSION,
    ARGS_TYPES,
    KIND,
    POD_GROUP_POST_FILTER,
    Args,
    JsonValue,
    KubeSchedulerConfiguration,
    PluginConfig,
    UnknownArgs,
)
from scheduler_core.config.v1 import ConfigurationV1
from scheduler_core.config.validation import validate
from scheduler_core.wording import say

_DEFAULT_GATES: Final = FeatureGates()


def load_configuration(
    text: str | bytes, gates: FeatureGates = _DEFAULT_GATES
) -> KubeSchedulerConfiguration:
    """The configuration in a YAML or JSON text, complete with defaults.

    Raises ConfigError with every problem of the first stage that has any: syntax, fields and
    types, values. Problems carry the line they stand on where it is known.
    """
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ConfigError([Problem((), say("config.not_utf8", "not UTF-8 text"))]) from None
    text = configuration_in(text) or text
    try:
        return _load(text_value(text), gates)
    except ConfigError as error:
        raise ConfigError(located(error.problems, text)) from None


def default_configuration(gates: FeatureGates = _DEFAULT_GATES) -> KubeSchedulerConfiguration:
    """What kube-scheduler runs with when it is given no configuration file."""
    return configuration(ConfigurationV1(), (), gates)


def _load(value: JsonValue, gates: FeatureGates) -> KubeSchedulerConfiguration:
    if not isinstance(value, dict):
        what = (
            say("config.document_empty", "the document is empty")
            if value is None
            else say("config.expected_mapping", "expected a mapping")
        )
        raise ConfigError([Problem((), what)])
    problems = _type_problems(value)
    if problems:
        raise ConfigError(problems)
    problems = [*_old_fields(value), *_later_fields(value, gates)]
    fields = {name: item for name, item in value.items() if name not in OLD_FIELDS}
    written = decode(fields, ConfigurationV1, (), problems)
    args = dict(_plugin_args(value, gates, problems))
    if written is None or problems:
        raise ConfigError(problems)
    plugin_configs = tuple(
        tuple(
            PluginConfig(name=config.name, args=args.get((i, j), UnknownArgs()))
            for j, config in enumerate(profile.plugin_config)
        )
        for i, profile in enumerate(written.profiles)
    )
    loaded = configuration(written, plugin_configs, gates)
    problems = validate(loaded, gates)
    if problems:
        raise ConfigError(problems)
    return loaded


def _type_problems(value: dict[str, JsonValue]) -> list[Problem]:
    """Whether the document says to be what is loaded here."""
    problems = [
        Problem(
            (field,),
            say(
                "config.field_missing",
                "Object '{field}' is missing, expected {wanted}",
                field=field,
                wanted=wanted,
            ),
        )
        for field, wanted in (("apiVersion", API_VERSION), ("kind", KIND))
        if value.get(field) in (None, "")
    ]
    if problems:
        return problems
    version, kind = value["apiVersion"], value["kind"]
    if version == API_VERSION and kind == KIND:
        return []
    field = "apiVersion" if version != API_VERSION else "kind"
    wanted = API_VERSION if field == "apiVersion" else KIND
    refused = f'no kind "{kind}" is registered for version "{version}"'
    message = say(
        "config.refused_expected", "{refused}, expected {wanted}", refused=refused, wanted=wanted
    )
    if kind == "Policy":
        message = say(
            "config.refused_policy",
            "{refused}. Policies became profiles, their predicates and priorities plugins",
            refused=message,
        )
        return [Problem((field,), message), *_of_policy(value)]
    return [Problem((field,), with_version_hint(message, str(version)))]


def _of_policy(value: dict[str, JsonValue]) -> Iterator[Problem]:
    """What became of the predicates and priorities of a policy, one by one."""
    for field in ("predicates", "priorities"):
        for i, item in enumerate(_items(value, field)):
            if (name := str(item.get("name"))) in OLD_NAMES:
                yield Problem((field, i, "name"), with_hint(f'"{name}"', name))


def _old_fields(value: dict[str, JsonValue]) -> list[Problem]:
    return [
        Problem(
            (name,),
            say(
                "config.refused_hint",
                "{refused}. {hint}",
                refused=f'unknown field "{name}"',
                hint=OLD_FIELDS[name].now,
            ),
        )
        for name in value
        if name in OLD_FIELDS
    ]


def _later_fields(value: dict[str, JsonValue], gates: FeatureGates) -> Iterator[Problem]:
    """What only a later release knows."""
    if gates.switches.group_post_filter_sets:
        return
    for index, profile in enumerate(_items(value, "profiles")):
        plugins = profile.get("plugins")
        if isinstance(plugins, dict) and POD_GROUP_POST_FILTER in plugins:
            path = ("profiles", index, "plugins", POD_GROUP_POST_FILTER)
            yield Problem(path, f'unknown field "{POD_GROUP_POST_FILTER}"')


def _plugin_args(
    value: dict[str, JsonValue], gates: FeatureGates, problems: list[Problem]
) -> Iterator[tuple[tuple[int, int], Args]]:
    """The arguments by the indexes of profile and plugin, decoded if the plugin is in the tree.

    Reads the document itself, so that problems here are found next to others elsewhere.
    """
    for i, profile in enumerate(_items(value, "profiles")):
        for j, config in enumerate(_items(profile, "pluginConfig")):
            name = config.get("name")
            if isinstance(name, str):
                path = ("profiles", i, "pluginConfig", j, "args")
                args = _args(name, config.get("args"), path, problems)
                yield (i, j), default_args(args, gates)


def _items(value: dict[str, JsonValue], field: str) -> list[dict[str, JsonValue]]:
    """The mappings in a list; what is none stands for itself as an empty one."""
    items = value.get(field)
    if not isinstance(items, list):
        return []
    return [item if isinstance(item, dict) else {} for item in items]


def _args(name: str, value: JsonValue, path: Path, problems: list[Problem]) -> Args:
    into = ARGS_TYPES.get(name)
    if into is None:
        return UnknownArgs(value=value)
    if isinstance(value, dict):
        kind = f"{name}Args"
        for field, wanted in (("apiVersion", API_VERSION), ("kind", kind)):
            if value.get(field) not in (None, "", wanted):
                message = f"args for plugin {name} were not of type {kind}, got {value[field]}"
                problems.append(Problem((*path, field), message))
        value = {field: value[field] for field in value if field not in ("apiVersion", "kind")}
    return decode(value, into, path, problems) or into()
