"""What every API object shares: the struct base, timestamps, metadata and selectors.

Conventions of all types in this package:

* fields carry the API's names in snake_case; the wire name is camelCase;
* an absent list is ``()``, an absent map ``{}``, an absent string ``""``; an absent object or
  number is ``None``, and so is a pointer to a boolean where upstream tells absent from false;
* quantities stay text (``{"cpu": "250m"}``), already validated by parsing; read them with
  :mod:`scheduler_core.api.quantity`;
* times are :data:`Timestamp`;
* values are frozen and hold no cycles; a mapping inside one must not be changed either: derive
  another object with ``msgspec.structs.replace``.
"""

from typing import TYPE_CHECKING, Annotated, ClassVar

import msgspec

Int32 = Annotated[int, msgspec.Meta(ge=-(1 << 31), le=(1 << 31) - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]

QuantityText = Annotated[str, msgspec.Meta(extra={"quantity": True})]
ResourceList = dict[str, QuantityText]
"""Amounts by resource name, such as ``{"cpu": "250m"}``."""

if TYPE_CHECKING:
    Timestamp = int
else:

    class _PlainIntegers(type):
        """Makes every plain integer an instance, so that values need no wrapper."""

        def __instancecheck__(cls, value: object) -> bool:
            return type(value) is int

    class Timestamp(metaclass=_PlainIntegers):
        """Nanoseconds since the Unix epoch (UTC), a plain ``int``.

        Read from RFC 3339 text, or from an integer when a packed object is read again.
        """


class ApiStruct(
    msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, gc=False
):
    """Base of all API values. See the module docstring for the conventions."""


class OwnerReference(ApiStruct, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(ApiStruct, frozen=True, kw_only=True):
    """Metadata of an object. Parsing keeps only the annotations and finalizers kviz reads."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    owner_references: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    creation_timestamp: Timestamp | None = None
    deletion_timestamp: Timestamp | None = None
    deletion_grace_period_seconds: Int64 | None = None
    generation: Int64 | None = None
    resource_version: str = ""


class KubeObject(ApiStruct, frozen=True, kw_only=True):
    """Base of the kinds: something with metadata that a cluster can hold."""

    kind: ClassVar[str]
    api_version: ClassVar[str]
    also_read: ClassVar[tuple[str, ...]] = ()
    """Older versions that parsing brings into this one's shape."""
    namespaced: ClassVar[bool] = False

    metadata: ObjectMeta = ObjectMeta()

    @property
    def name(self) -> str:
        return self.metadata.name

    @property
    def namespace(self) -> str:
        return self.metadata.namespace

    @property
    def uid(self) -> str:
        return self.metadata.uid

    @property
    def key(self) -> str:
        """``namespace/name``, or the bare name of an object without namespace."""
        metadata = self.metadata
        return f"{metadata.namespace}/{metadata.name}" if metadata.namespace else metadata.name


class LabelSelectorRequirement(ApiStruct, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(ApiStruct, frozen=True, kw_only=True):
    """A selector over labels: an absent (``None``) one matches nothing, an empty one everything."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class NodeSelectorRequirement(ApiStruct, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class NodeSelectorTerm(ApiStruct, frozen=True, kw_only=True):
    """Requirements that must all hold. A term without any matches nothing."""

    match_expressions: tuple[NodeSelectorRequirement, ...] = ()
    match_fields: tuple[NodeSelectorRequirement, ...] = ()


class NodeSelector(ApiStruct, frozen=True, kw_only=True):
    """Terms of which one must hold."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class ObjectReference(ApiStruct, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class TypedLocalObjectReference(ApiStruct, frozen=True, kw_only=True):
    api_group: str = ""
    kind: str = ""
    name: str = ""
