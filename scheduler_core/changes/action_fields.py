"""The fields of each action, as they stand in a scenario, a file of changes or a REST document."""

from __future__ import annotations

from msgspec import field as wire

from scheduler_core.config.types import ConfigStruct, Int32, Int64, UtilizationShapePoint


class Target(ConfigStruct, frozen=True, kw_only=True):
    kind: str = ""
    namespace: str = ""
    name: str = ""


class Delete(Target, frozen=True, kw_only=True):
    grace_period_seconds: Int32 | None = None


class AddTaint(ConfigStruct, frozen=True, kw_only=True):
    node: str = ""
    key: str = ""
    value: str = ""
    effect: str = ""


class RemoveTaint(ConfigStruct, frozen=True, kw_only=True):
    node: str = ""
    key: str = ""
    effect: str = ""


class Label(ConfigStruct, frozen=True, kw_only=True):
    node: str = ""
    key: str = ""
    value: str = ""


class Unlabel(ConfigStruct, frozen=True, kw_only=True):
    node: str = ""
    key: str = ""


class CopyNode(ConfigStruct, frozen=True, kw_only=True):
    node: str = ""
    copies: Int32 = 1


class Scale(Target, frozen=True, kw_only=True):
    replicas: Int32 | None = None


class Weight(ConfigStruct, frozen=True, kw_only=True):
    plugin: str = ""
    weight: Int64 | None = None


class Scoring(ConfigStruct, frozen=True, kw_only=True):
    type: str = ""
    shape: tuple[UtilizationShapePoint, ...] = ()


class Gate(ConfigStruct, frozen=True, kw_only=True):
    name: str = ""
    enabled: bool | None = None


class Set(Target, frozen=True, kw_only=True):
    path: str = ""


class Copies(ConfigStruct, frozen=True, kw_only=True):
    copies: Int32 = wire(default=0)
