"""Plugins that kube-scheduler does not have, loaded when a configuration asks for them.

kviz brings some of its own, for teaching; the others are found through entry points. A
package offers a plugin in its `pyproject.toml`:

    [project.entry-points."kviz.plugins"]
    RackSibling = "rack_sibling:RackSibling"

Nothing of such a package is imported before a configuration enables its plugin, and nothing at all
that the caller does not allow: it is Python, and may do whatever this process may. kviz's own need
nobody's leave. The registry of packages takes long to import, so it is when it is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from kviz import distribution
from scheduler_core.config import ConfigError, KubeSchedulerConfiguration, Problem
from scheduler_core.config.problems import ByName, Path
from scheduler_core.registry import Registry, RegistryError, in_tree_registry
from scheduler_core.teaching import TEACHING_PLUGINS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

OWN_PACKAGE: Final = "kviz"
"""As rows and traces name what kviz brings; as a package, the name is another project's."""
GROUP: Final = "kviz.plugins"
ALLOW: Final = "KVIZ_ALLOW_PLUGINS"


@dataclass(frozen=True)
class OutOfTreePlugin:
    """A plugin that a configuration enables, and the package it comes from."""

    name: str
    package: str
    version: str

    def __str__(self) -> str:
        return f"{self.name} from {self.package} {self.version}"

    @property
    def is_own(self) -> bool:
        """Whether kviz brings it, as opposed to another package."""
        return self.package == OWN_PACKAGE and self.name in TEACHING_PLUGINS


@dataclass(frozen=True)
class LoadedPlugins:
    """A registry with the in-tree plugins and those `out_of_tree`, in order of their names."""

    registry: Registry
    out_of_tree: tuple[OutOfTreePlugin, ...]


@dataclass(frozen=True)
class _Offer:
    """A plugin that may be loaded. `load` raises _Refused."""

    plugin: OutOfTreePlugin
    load: Callable[[], type]


class _Refused(Exception):
    """An offered plugin cannot be loaded; the text says why."""


def offered_plugins() -> list[OutOfTreePlugin]:
    """Return what a configuration may enable beyond the tree, by name; nothing is imported."""
    from importlib.metadata import entry_points

    own = [_own(name) for name in TEACHING_PLUGINS]
    others = [_described(entry) for entry in entry_points(group=GROUP)]
    return sorted((*own, *others), key=lambda plugin: (plugin.name, plugin.package))


def load_plugins(
    configuration: KubeSchedulerConfiguration, allowed: Collection[str] | None = None
) -> LoadedPlugins:
    """Load what a configuration enables beyond the tree: of `allowed` plugins, or of any (None).

    Names that nobody offers are left to the engine, which knows what to say about them. Raises
    ConfigError for plugins that are not allowed, cannot be loaded, or are offered twice.
    """
    registry = in_tree_registry()
    loaded: list[OutOfTreePlugin] = []
    problems: list[Problem] = []
    for name, path in _wanted(configuration, set(registry)).items():
        try:
            offer = _offer_of(name)
            if offer is not None:
                loaded.append(offer.plugin)
                _check_allowed(offer.plugin, allowed)
                registry.register_out_of_tree(name, offer.load())
        except (_Refused, RegistryError) as refused:
            problems.append(Problem(path, str(refused)))
    if problems:
        raise ConfigError(problems)
    return LoadedPlugins(registry, tuple(loaded))


def _wanted(configuration: KubeSchedulerConfiguration, known: Collection[str]) -> dict[str, Path]:
    """Return where each enabled plugin that is not `known` stands first, names sorted."""
    found: dict[str, Path] = {}
    for name, path in _enabled(configuration):
        if name not in known:
            found.setdefault(name, path)
    return dict(sorted(found.items()))


def _enabled(configuration: KubeSchedulerConfiguration) -> Iterator[tuple[str, Path]]:
    for i, profile in enumerate(configuration.profiles):
        for set_name, plugin_set in profile.plugins.sets().items():
            head, *tail = set_name.split("_")
            field = head + "".join(word.title() for word in tail)
            for plugin in plugin_set.enabled:
                path = ("profiles", i, "plugins", field, "enabled", ByName(plugin.name))
                yield plugin.name, path


def _offer_of(name: str) -> _Offer | None:
    from importlib.metadata import entry_points

    offers = [
        _Offer(_described(entry), partial(_loaded, entry))
        for entry in entry_points(group=GROUP, name=name)
    ]
    if name in TEACHING_PLUGINS:
        offers.append(_Offer(_own(name), lambda: TEACHING_PLUGINS[name]))
    if len(offers) > 1:
        packages = ", ".join(sorted(str(offer.plugin) for offer in offers))
        raise _Refused(f'plugin "{name}" is offered more than once: {packages}')
    return offers[0] if offers else None


def _own(name: str) -> OutOfTreePlugin:
    return OutOfTreePlugin(name, OWN_PACKAGE, distribution.version())


def _described(offer: EntryPoint) -> OutOfTreePlugin:
    if offer.dist is None:
        return OutOfTreePlugin(offer.name, offer.module, "")
    return OutOfTreePlugin(offer.name, offer.dist.name, offer.dist.version)


def _check_allowed(plugin: OutOfTreePlugin, allowed: Collection[str] | None) -> None:
    if not plugin.is_own and allowed is not None and plugin.name not in allowed:
        raise _Refused(
            f'plugin "{plugin.name}" is not part of kviz, and this server does not run it: '
            f"its operator has to name it in {ALLOW}"
        )


def _loaded(offer: EntryPoint) -> type:
    try:
        plugin_type: object = offer.load()
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise _Refused(f"cannot load plugin {_described(offer)}: {reason}") from error
    if not isinstance(plugin_type, type):
        raise _Refused(f"plugin {_described(offer)}: {offer.value} is not a class")
    return plugin_type
