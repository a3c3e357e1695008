"""One Kubernetes object from plain data or JSON text into its frozen type."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec
from msgspec.structs import force_setattr, replace

from scheduler_core.api.coerce import Plain, coerce_struct, describe
from scheduler_core.api.defaults import apply_defaults
from scheduler_core.api.device import (
    Device,
    DeviceClaim,
    DeviceRequest,
    ExactDeviceRequest,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from scheduler_core.api.errors import FieldError, ParseError, Place
from scheduler_core.api.meta import ApiStruct, KubeObject, LabelSelector
from scheduler_core.api.nul import NUL_IN_JSON, refuse_nul, without_nul
from scheduler_core.api.redact import redact
from scheduler_core.api.timestamps import TIMESTAMPS, parse_timestamp
from scheduler_core.api.types import KINDS
from scheduler_core.api.validate import validate
from scheduler_core.api.workload import PodDisruptionBudget
from scheduler_core.wording import say

# Objects of older API versions, brought into the shape of the one that kviz reads.
#
# ``resource.k8s.io/v1beta2`` has the shape of v1. In v1beta1 a request has its fields beside its
# name instead of below ``exactly``, and a device its fields below ``basic``. An empty selector of a
# ``policy/v1beta1`` budget matches no pod. All else that is read has the shape of v1.
#
# Upstream: v1.36 pkg/apis/{resource,policy}/v1beta1/conversion.go.


def modernize(item: KubeObject, api_version: str) -> None:
    """Brings a freshly decoded object into its present shape, before anyone else holds it."""
    match item:
        case PodDisruptionBudget(spec=budget) if api_version == "policy/v1beta1":
            if budget.selector == LabelSelector():
                force_setattr(budget, "selector", None)
        case ResourceClaim(spec=spec):
            _modernize_claim(spec.devices)
        case ResourceClaimTemplate(spec=template):
            _modernize_claim(template.spec.devices)
        case ResourceSlice(spec=slice_spec) if any(d.basic for d in slice_spec.devices):
            devices = tuple(_without_basic(device) for device in slice_spec.devices)
            force_setattr(slice_spec, "devices", devices)
        case _:
            pass


def _modernize_claim(claim: DeviceClaim) -> None:
    if any(request.device_class_name for request in claim.requests):
        force_setattr(claim, "requests", tuple(map(_with_exactly, claim.requests)))


def _with_exactly(request: DeviceRequest) -> DeviceRequest:
    if not request.device_class_name:
        return request
    exactly = ExactDeviceRequest(
        device_class_name=request.device_class_name,
        selectors=request.selectors,
        allocation_mode=request.allocation_mode,
        count=request.count,
        admin_access=request.admin_access,
        tolerations=request.tolerations,
        capacity=request.capacity,
    )
    return DeviceRequest(
        name=request.name, exactly=exactly, first_available=request.first_available
    )


def _without_basic(device: Device) -> Device:
    return device if device.basic is None else replace(device.basic, name=device.name)


TOO_DEEP = say("field.too_deep", "is nested too deep to be read")
MALFORMED = (msgspec.DecodeError, UnicodeDecodeError)
"""What decoding JSON raises for text that does not fit, or is no JSON at all."""


class TypeName(NamedTuple):
    """An object's apiVersion and kind as written."""

    api_version: str
    kind: str

    @property
    def group(self) -> str:
        """The API group, ``""`` for the core group."""
        return self.api_version.rpartition("/")[0]

    def label(self) -> str:
        """How the kind is called in counts: with its group when it only shares a known name."""
        known = KINDS.get(self.kind)
        if known is None or self.group == _group_of(known):
            return without_nul(self.kind)
        return without_nul(f"{self.kind}.{self.group}")


class _Identity(ApiStruct, frozen=True, kw_only=True):
    """Just enough of an object to name it in an error message."""

    name: object = ""
    namespace: object = ""


class _Named(ApiStruct, frozen=True, kw_only=True):
    metadata: _Identity = _Identity()


def written_timestamp(_: type, value: object) -> int:
    """How msgspec decodes a Timestamp of a manifest: numbers are no times."""
    if isinstance(value, str):
        return parse_timestamp(value)
    raise ValueError(say("field.must_be_time", "must be a time, not {what}", what=describe(value)))


def decode_timestamp(kind: type, value: object) -> int:
    """How msgspec decodes a Timestamp of an object that was read before, or changed since."""
    if type(value) is int and value in TIMESTAMPS:
        return value
    return written_timestamp(kind, value)


DECODERS: Mapping[str, msgspec.json.Decoder[KubeObject]] = {
    name: msgspec.json.Decoder(kind, dec_hook=written_timestamp) for name, kind in KINDS.items()
}
_OWN_DECODERS: Mapping[str, msgspec.json.Decoder[KubeObject]] = {
    name: msgspec.json.Decoder(kind, dec_hook=decode_timestamp) for name, kind in KINDS.items()
}


def modelled_kind(name: TypeName) -> type[KubeObject] | None:
    """The type for a name, ``None`` for what kviz does not model.

    Raises :class:`FieldError` for a version that kviz cannot read of a kind it knows.
    """
    kind = KINDS.get(name.kind)
    if kind is not None and name.api_version in (kind.api_version, *kind.also_read):
        return kind
    if kind is None or (name.api_version and name.group != _group_of(kind)):
        return None
    if not name.api_version:
        raise FieldError(
            "apiVersion",
            say(
                "field.api_version_missing",
                "is missing; {kind} is read as {api_version}",
                kind=kind.kind,
                api_version=kind.api_version,
            ),
        )
    problem = say(
        "field.version_unsupported",
        '"{version}" is not supported for {kind}; use {supported}',
        version=name.api_version,
        kind=kind.kind,
        supported=kind.api_version,
    )
    raise FieldError("apiVersion", problem)


def parse_object(raw: Mapping[str, object], place: Place) -> KubeObject:
    """A modelled object from plain data, as YAML or JSON yields it.

    Raises :class:`ParseError`, also for a kind that kviz does not model.
    """
    try:
        name = type_name(raw)
        kind = modelled_kind(name)
    except FieldError as error:
        raise ParseError(place, error.field, error.message) from None
    if kind is None:
        raise ParseError(
            place,
            "kind",
            say(
                "field.kind_not_modelled",
                "{what} is not a modelled kind",
                what=describe(raw.get("kind")),
            ),
        )
    return convert(raw, kind, place, name.api_version)


def type_name(raw: Mapping[str, object]) -> TypeName:
    """The apiVersion and kind of plain data. Raises :class:`FieldError`."""
    values = []
    for field in ("apiVersion", "kind"):
        value = raw.get(field)
        if value is not None and not isinstance(value, str):
            raise FieldError(
                field, say("field.must_be_text", "must be text, not {what}", what=describe(value))
            )
        values.append(value or "")
    return TypeName(*values)


def convert(raw: Plain, kind: type[KubeObject], place: Place, api_version: str = "") -> KubeObject:
    """Plain data as an object of the kind; ``api_version`` says whether it is of an older one.

    Raises :class:`ParseError`.
    """
    try:
        item = msgspec.convert(raw, kind, dec_hook=written_timestamp)
    except msgspec.ValidationError:
        return _convert_leniently(raw, kind, place, api_version)
    return _complete(item, place, api_version, may_hold_nul=True)


def decode(
    raw: msgspec.Raw | bytes,
    kind: type[KubeObject],
    place: Place,
    api_version: str = "",
    *,
    is_own: bool = False,
) -> KubeObject:
    """JSON text as an object of the kind; for the rest see :func:`convert`.

    ``is_own``: kviz may have written it, whose times are nanoseconds.
    """
    try:
        item = (_OWN_DECODERS if is_own else DECODERS)[kind.kind].decode(raw)
    except MALFORMED:
        return _convert_leniently(_decode_plain(raw, place), kind, place, api_version)
    except RecursionError:
        raise ParseError(place, "", TOO_DEEP) from None
    return _complete(item, place, api_version, may_hold_nul=NUL_IN_JSON in bytes(raw))


def _complete(
    item: KubeObject, place: Place, api_version: str, *, may_hold_nul: bool
) -> KubeObject:
    try:
        validate(item)
        modernize(item, api_version)
        redact(item)
        if may_hold_nul:
            refuse_nul(item)
    except FieldError as error:
        subject = _subject(item.kind, item.metadata.namespace, item.metadata.name)
        raise ParseError(place._replace(subject=subject), error.field, error.message) from None
    apply_defaults(item)
    return item


def _convert_leniently(
    raw: Plain, kind: type[KubeObject], place: Place, api_version: str
) -> KubeObject:
    """Accepts what the API server accepts beyond the plain types; names the field otherwise."""
    named = place._replace(subject=subject_of(raw, kind.kind))
    try:
        item = msgspec.convert(coerce_struct(raw, kind), kind, dec_hook=decode_timestamp)
    except FieldError as error:
        raise ParseError(named, error.field, error.message) from None
    except msgspec.ValidationError as error:
        raise ParseError(named, "", str(error)) from None
    return _complete(item, place, api_version, may_hold_nul=True)


def _decode_plain(raw: msgspec.Raw | bytes, place: Place) -> Plain:
    try:
        plain: Plain = msgspec.json.decode(raw)
    except UnicodeDecodeError:
        raise ParseError(place, "", say("json.not_utf8", "holds text that is not UTF-8")) from None
    except msgspec.DecodeError as error:
        raise ParseError(place, "", str(error)) from None
    except RecursionError:
        raise ParseError(place, "", TOO_DEEP) from None
    return plain


def _group_of(kind: type[KubeObject]) -> str:
    return kind.api_version.rpartition("/")[0]


def _subject(kind: str, namespace: str, name: str) -> str:
    if not name:
        return kind
    return without_nul(f"{kind} {namespace}/{name}" if namespace else f"{kind} {name}")


def subject_of(source: msgspec.Raw | Plain, kind: str) -> str:
    """The name of an object, ``Pod shop/web``, or the part of it that can be read."""
    try:
        if isinstance(source, msgspec.Raw):
            named = msgspec.json.decode(source, type=_Named).metadata
        else:
            named = msgspec.convert(source, _Named).metadata
    except (*MALFORMED, RecursionError):
        return kind
    texts = [text if isinstance(text, str) else "" for text in (named.namespace, named.name)]
    return _subject(kind, *texts)
