"""The wire contract in TypeScript, generated from the event types.

`typescript()` returns the whole of `frontend/src/wire/events.ts`: an enum object per IntEnum,
an interface per record and event, and a reader that turns the positional form into it. Fields
in nanoseconds become bigints, because they exceed what a JavaScript number holds exactly. Fields
that number cycles, nodes and pods have types of their own, so that one is not taken for another.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterator
from enum import IntEnum

import msgspec

from scheduler_core.trace import records, tables
from scheduler_core.trace.events import (
    Detail,
    HeaderEvent,
)
from scheduler_core.trace.records import Record
from scheduler_core.trace.tables import Cache

HEADER = """\
// Generated from scheduler_core.trace by `npm run wire`. Do not edit.

import type { Cycle, NodeIndex, Ns, PodIndex } from "../base/units.ts";

/** A positional value as MessagePack gave it. */
export type Wire = unknown;
type Row = readonly Wire[];
type Reader<T> = (row: Row) => T;

const num = (v: Wire): number => Number(v ?? 0);
const big = (v: Wire): Ns => BigInt((v as number | bigint | undefined) ?? 0);
const str = (v: Wire): string => (v as string | undefined) ?? "";
const bool = (v: Wire): boolean => (v as boolean | undefined) ?? false;
const bin = (v: Wire): Uint8Array => v as Uint8Array;
const nums = (v: Wire): number[] => ((v as Row | undefined) ?? []).map(Number);
const strs = (v: Wire): string[] => (v as string[] | undefined) ?? [];
const dict = (v: Wire): Record<string, string> => v as Record<string, string>;
const list = <T>(v: Wire, read: Reader<T>): T[] =>
  ((v as Row[] | undefined) ?? []).map(read);
"""

Shape = tuple[str, str]
"""A TypeScript type, and the expression that reads it (`%s` is the positional value)."""

SCALARS: dict[object, Shape] = {
    int: ("number", "num(%s)"),
    str: ("string", "str(%s)"),
    bool: ("boolean", "bool(%s)"),
    bytes: ("Uint8Array", "bin(%s)"),
}
LISTS: dict[object, Shape] = {int: ("number[]", "nums(%s)"), str: ("string[]", "strs(%s)")}

UNITS = {
    "cycle": "Cycle",
    **dict.fromkeys(("pod", "by_pod", "victims"), "PodIndex"),
    **dict.fromkeys(
        ("node", "nominated_node", "runner_up", "winner", "nodes", "narrowed"), "NodeIndex"
    ),
}
"""Types of `frontend/src/base/units.ts` by the name of a field of integers; `*_ns` is `Ns`."""


def typescript() -> str:
    """Return the text of the generated module."""
    parts = [HEADER, *map(_enum, (records.Queue, records.Result, Cache))]
    parts.extend(_literal_type(name, literal) for literal, name in _literals().items())
    parts.extend(map(_struct, _records()))
    for name, members in (("HeaderEvent", HeaderEvent), ("Detail", Detail)):
        structs = typing.get_args(members)
        parts.extend(map(_struct, structs))
        parts.append(_union(name, structs))
        parts.append(_readers(name, structs))
    parts.append(_tables())
    return "\n".join(parts)


def _tables() -> str:
    """Return the tables that both folds read."""
    phases = ", ".join(map(_quoted, tables.TERMINAL_PHASES))
    occupying = ", ".join(f"Cache.{cache.name}" for cache in tables.OCCUPYING)
    waiting = ", ".join(f"Queue.{queue.name}" for queue in tables.WAITING_QUEUES)
    cache_after = "".join(
        f"  {kind}: Cache.{cache.name},\n" for kind, cache in tables.CACHE_AFTER.items()
    )
    queue_after = "".join(
        f"  [Result.{result.name}]: Queue.{queue.name},\n"
        for result, queue in tables.QUEUE_AFTER.items()
    )
    changes = "".join(
        f"  {kind}: [{', '.join(map(_quoted, parts))}],\n" for kind, parts in tables.CHANGES.items()
    )
    rejecting = ", ".join(map(_quoted, tables.REJECTING))
    words = "".join(
        f"export const {name} = {_quoted(text)};\n" for name, text in _named_texts().items()
    )
    return (
        f"export const TERMINAL_PHASES: ReadonlySet<string> = new Set([{phases}]);\n"
        f"export const OCCUPYING: ReadonlySet<Cache> = new Set<Cache>([{occupying}]);\n"
        f"export const WAITING_QUEUES: readonly Queue[] = [{waiting}];\n\n"
        f"export const REJECTING: ReadonlySet<string> = new Set([{rejecting}]);\n{words}\n"
        f"/** What the cache holds of an event's pod afterwards. */\n"
        f"export const CACHE_AFTER = {{\n{cache_after}}} as const;\n\n"
        f"/** Where a pod is that its cycle left in flight. */\n"
        f"export const QUEUE_AFTER: Readonly<Record<Result, Queue>> = {{\n{queue_after}}};\n\n"
        f"/** How long a pod stays in unschedulablePods at most. */\n"
        f"export const UNSCHEDULABLE_MINUTES = {tables.UNSCHEDULABLE_MINUTES};\n\n"
        f"/** By header event: the parts of the state it may change. */\n"
        f"export const CHANGES = {{\n{changes}}} as const "
        f'satisfies Record<HeaderEvent["kind"], readonly string[]>;\n'
    )


def _named_texts() -> dict[str, str]:
    return {
        "RESOLVABLE": tables.RESOLVABLE,
        "UNRESOLVABLE": tables.UNRESOLVABLE,
        "FIT": tables.FIT,
        "PODS": tables.PODS,
        "TOO_MANY_PODS": tables.TOO_MANY_PODS,
        "INSUFFICIENT": tables.INSUFFICIENT,
        "INSUFFICIENT_OTHERS": tables.INSUFFICIENT_OTHERS,
    }


def _quoted(text: str) -> str:
    return f'"{text}"'


def _records() -> Iterator[type[Record]]:
    for value in vars(records).values():
        if inspect.isclass(value) and issubclass(value, Record) and value is not Record:
            yield value


def _literals() -> dict[object, str]:
    """Return the closed sets of texts that records name, with their names."""
    return {
        value: name
        for name, value in vars(records).items()
        if typing.get_origin(value) is typing.Literal
    }


def _literal_type(name: str, literal: object) -> str:
    texts = " | ".join(map(_quoted, typing.get_args(literal)))
    return f"export type {name} = {texts};\n"


def _enum(enum: type[IntEnum]) -> str:
    members = "".join(f"  {member.name}: {member.value},\n" for member in enum)
    name = enum.__name__
    return (
        f"export const {name} = {{\n{members}}} as const;\n"
        f"export type {name} = (typeof {name})[keyof typeof {name}];\n"
    )


def _struct(struct: type[msgspec.Struct]) -> str:
    """Return interface and reader; an event's fields come after its kind."""
    tag = struct.__struct_config__.tag
    interface = [f'  readonly kind: "{tag}";\n'] if tag else []
    literal = [f'  kind: "{tag}",\n'] if tag else []
    hints = typing.get_type_hints(struct)
    for i, name in enumerate(struct.__struct_fields__, start=1 if tag else 0):
        wanted, read = _shape(name, hints[name])
        interface.append(f"  readonly {name}: {wanted};\n")
        literal.append(f"  {name}: {_with_default(struct, name, read, f'row[{i}]')},\n")
    name = struct.__name__
    return (
        f"export interface {name} {{\n{''.join(interface)}}}\n"
        f"export const read{name}: Reader<{name}> = (row) => ({{\n{''.join(literal)}}});\n"
    )


def _with_default(struct: type[msgspec.Struct], name: str, read: str, value: str) -> str:
    """Return how to read a field; -1 stands in where an older trace lacks a number."""
    for info in msgspec.structs.fields(struct):
        if info.name == name and info.default == records.NONE:
            return read.replace("%s", f"{value} ?? -1")
    return read.replace("%s", value)


def _shape(name: str, hint: object) -> Shape:
    if name.endswith("_ns"):
        return "Ns", "big(%s)"
    if hint is int and name in UNITS:
        return UNITS[name], "num(%s)"
    if hint is object:
        return "Wire", "%s"
    if hint in SCALARS:
        return SCALARS[hint]
    if typing.get_origin(hint) is typing.Literal:
        alias = _literals()[hint]
        return alias, f"str(%s) as {alias}"
    if inspect.isclass(hint) and issubclass(hint, IntEnum):
        return hint.__name__, f"num(%s) as {hint.__name__}"
    if inspect.isclass(hint) and issubclass(hint, Record):
        return hint.__name__, f"read{hint.__name__}(%s as Row)"
    return _composite(name, hint)


def _composite(name: str, hint: object) -> Shape:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is types.UnionType:
        wanted, read = _shape(name, args[0])
        return f"{wanted} | null", f"%s == null ? null : {read}"
    if origin is dict:
        return "Readonly<Record<string, string>>", "dict(%s)"
    if origin is tuple and args[0] in LISTS:
        wanted, read = LISTS[args[0]]
        if args[0] is int and name in UNITS:
            wanted = f"{UNITS[name]}[]"
        return f"readonly {wanted}", read
    if origin is tuple and inspect.isclass(args[0]):
        return f"readonly {args[0].__name__}[]", f"list(%s, read{args[0].__name__})"
    raise TypeError(f"no TypeScript for {name}: {hint}")


def _union(name: str, structs: tuple[type[msgspec.Struct], ...]) -> str:
    return f"export type {name} =\n" + "\n".join(f"  | {s.__name__}" for s in structs) + ";\n"


def _readers(name: str, structs: tuple[type[msgspec.Struct], ...]) -> str:
    lines = "".join(f"  {s.__name__}: read{s.__name__},\n" for s in structs)
    return (
        f"const read{name}By: Record<string, Reader<{name}>> = {{\n{lines}}};\n\n"
        f"/** Read one positional event; a kind this version does not know is null. */\n"
        f"export const read{name} = (row: Row): {name} | null =>\n"
        f"  read{name}By[row[0] as string]?.(row) ?? null;\n"
    )
