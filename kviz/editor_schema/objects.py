"""The objects of a cluster, from the models of the `kubernetes` client."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping
from typing import Annotated, Any, Final, Union, cast, get_args, get_origin

from kubernetes.client import models
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from kviz.editor_schema.schema import Field, FieldType, Schema, shortened
from scheduler_core.api import KINDS, KubeObject

WRITTEN_BY_THE_SERVER: Final = frozenset({"managedFields", "selfLink", "resourceVersion"})
SCALARS: Final[Mapping[object, FieldType]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
}
MODELS: Final = {"ResourceClaim": "ResourceV1ResourceClaim"}
"""Models whose name is not that of their kind: containers have something of that name, too."""
LISTED: Final = re.compile(
    r"(?:Valid (?:values|options|operators|effects)(?: are)?|Possible enum values"
    r"|allowed values are|(?:Must be|One of|Can be)(?= [\"'`]?[A-Z]))(.*)"
)
"""Where upstream's descriptions list what a string may be; the client has no enums."""
VALUE: Final = re.compile(r"\b[A-Z][A-Za-z]{2,}\b|\bIn\b|\b[GL]t\b")
BULLET: Final = re.compile(r"- ([A-Z]\w+)(?: \(default\))?(?::| tells)")


def object_schema() -> Schema:
    """The kinds that kviz reads, with all their fields."""
    schema = Schema(roots={kind: _model(of).__name__ for kind, of in sorted(KINDS.items())})
    for kind, of in KINDS.items():
        _add(schema, _model(of))
        fields = schema.types[_model(of).__name__]
        fields["kind"] = Field("string", values=(kind,))
        fields["apiVersion"] = Field("string", values=(of.api_version,))
    return schema


def _model(kind: type[KubeObject]) -> type[BaseModel]:
    name = MODELS.get(kind.kind, f"V1{kind.kind}")
    return cast("type[BaseModel]", getattr(models, name))


def _add(schema: Schema, model: type[BaseModel]) -> None:
    if model.__name__ in schema.types:
        return
    fields = schema.types[model.__name__] = {}
    for name, info in model.model_fields.items():
        alias = info.serialization_alias or name
        if alias not in WRITTEN_BY_THE_SERVER:
            fields[alias] = _field(schema, info)


def _field(schema: Schema, info: FieldInfo) -> Field:
    text = shortened(info.description or "")
    wanted = _bare(info.annotation)
    is_list, is_map = get_origin(wanted) is list, get_origin(wanted) is dict
    item = _bare(get_args(wanted)[-1]) if is_list or is_map else wanted
    if isinstance(item, type) and issubclass(item, BaseModel):
        _add(schema, item)
        return Field("object", of=item.__name__, is_list=is_list, is_map=is_map, doc=text)
    values = _values(info.description or "") if item is str else ()
    kind = SCALARS.get(item, "any")
    return Field(kind, is_list=is_list, is_map=is_map, values=values, doc=text)


def _bare(annotation: Any) -> Any:
    """Return what is left of a type without Optional and Annotated."""
    if get_origin(annotation) is Annotated:
        return _bare(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        some = [each for each in get_args(annotation) if each is not type(None)]
        return _bare(some[0])
    return annotation


def _values(description: str) -> tuple[str, ...]:
    """Return the values that a description lists, in its order."""
    if listed := LISTED.search(description):
        sentence = listed[1].split(". ")[0]
        found = VALUE.findall(sentence)
    else:
        found = BULLET.findall(description)
    return tuple(dict.fromkeys(found)) if len(found) > 1 else ()
