"""Objects out of YAML text: documents, and the items of lists.

A list as kubectl prints it is cut into its items before parsing. So memory stays small, every
item knows its line, and kinds nobody models (Secrets among them) are never parsed at all. Text
that does not have that shape, or whose pieces do not parse, is parsed whole.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from scheduler_core.api.coerce import Plain, kind_of
from scheduler_core.api.errors import FieldError, UnreadableError
from scheduler_core.api.parse import TypeName, type_name
from scheduler_core.api.simulator import is_export, opened
from scheduler_core.wording import say
from scheduler_core.yaml_text import NotYaml, value

_DOCUMENT_MARK = re.compile(r"^(?:---|\.\.\.)(?=\s|\Z)", re.MULTILINE)
_NO_CONTENT = re.compile(r"(?:[ \t]*(?:#[^\n]*)?(?:\n|\Z)|%[^\n]*(?:\n|\Z))*\Z")
_ITEMS = re.compile(r"^items:[ \t]*\n(?P<indent> *)- ", re.MULTILINE)
_AFTER_ITEMS = re.compile(r"^[^\s#-]", re.MULTILINE)
_KIND_LINE = r"^{indent}kind: *[\"']?(?P<kind>[A-Za-z0-9]+)[\"']?[ \t]*$"
_TOP_KIND = re.compile(_KIND_LINE.format(indent=""), re.MULTILINE)
_POSITION = re.compile(r" at line ([0-9]+) column [0-9]+")
_LINE = re.compile(r"\bline ([0-9]+)\b")
_LIST_SUFFIX = "List"

# The YAML library's time grows with text length times the depth of [ and {, which nothing but
# the number of openings bounds cheaply. The product below is about two seconds.
_MAX_FLOW_WORK = 2_000_000_000

IsWanted = Callable[[str], bool]
"""Whether objects of a kind are to be parsed."""


class YamlDocument(NamedTuple):
    """An object as plain data; ``value`` is ``None`` for one that was not wanted.

    ``text`` is what it was read from, empty where several objects share it.
    """

    type_name: TypeName
    value: Mapping[str, Plain] | None
    line: int
    text: str = ""


class _Piece(NamedTuple):
    text: str
    first_line: int


def read_yaml_pieces(text: str, is_wanted: IsWanted) -> Iterator[YamlDocument]:
    """The objects of all documents in the text, in order, each item of a list parsed alone.

    Raises :class:`UnreadableError` also for a few valid texts, in which an alias reaches across
    items or a quoted text looks like an item: read those again with :func:`read_yaml_whole`.
    """
    for piece in _split_documents(text):
        kind = _TOP_KIND.search(piece.text)
        if kind and not kind["kind"].endswith(_LIST_SUFFIX) and not is_wanted(kind["kind"]):
            if "{{" in piece.text:
                _load(piece)  # a chart's template is not to be passed over in silence
            yield YamlDocument(TypeName("", kind["kind"]), None, piece.first_line, piece.text)
            continue
        yield from _cut_list(piece, is_wanted) or _whole(piece)


def read_yaml_whole(
    text: str, unread: list[UnreadableError] | None = None
) -> Iterator[YamlDocument]:
    """The objects of all documents in the text, lists opened, in order.

    What is wrong with a document is added to ``unread``; where there is none, it is raised:
    :class:`UnreadableError` with the line.
    """
    for piece in _split_documents(text):
        try:
            documents = list(_whole(piece))
        except UnreadableError as error:
            if unread is None:
                raise
            unread.append(error)
        else:
            yield from documents


def _split_documents(text: str) -> Iterator[_Piece]:
    """The text between document marks; a mark at a line's start cannot be anything else."""
    start, line = 0, 1
    for mark in (*_DOCUMENT_MARK.finditer(text), None):
        end = mark.start() if mark else len(text)
        if not _NO_CONTENT.match(text, start, end):
            yield _Piece(text[start:end], line)
        if mark:
            line += text.count("\n", start, mark.end())
            start = mark.end()


def _cut_list(piece: _Piece, is_wanted: IsWanted) -> Iterator[YamlDocument] | None:
    """The items of a list in kubectl's layout, ``None`` when the text is something else."""
    opening = _ITEMS.search(piece.text)
    if opening is None:
        return None
    after = _AFTER_ITEMS.search(piece.text, opening.end())
    end = after.start() if after else len(piece.text)
    envelope = _Piece(piece.text[: opening.start()] + "\n" + piece.text[end:], piece.first_line)
    name = _list_name(_load(envelope))
    if name is None:
        return None
    indent = opening["indent"]
    cuts = _cut_items(piece, opening.start("indent"), end, indent)
    return (_item(cut, name, is_wanted, len(indent)) for cut in cuts)


def _cut_items(piece: _Piece, start: int, end: int, indent: str) -> Iterator[_Piece]:
    dash = re.compile(rf"^{indent}-(?= )", re.MULTILINE)
    marks = [mark.start() for mark in dash.finditer(piece.text, start, end)]
    line = piece.first_line + piece.text.count("\n", 0, start)
    for begin, stop in zip(marks, [*marks[1:], end], strict=True):
        yield _Piece(piece.text[begin:stop], line)
        line += piece.text.count("\n", begin, stop)


def _item(cut: _Piece, inherited: TypeName, is_wanted: IsWanted, indent: int) -> YamlDocument:
    pattern = _KIND_LINE.format(indent=rf"(?: {{{indent + 2}}}| {{{indent}}}- )")
    kinds = re.findall(pattern, cut.text, re.MULTILINE)
    kind = kinds[0] if kinds else inherited.kind
    if kind and len(kinds) <= 1 and not is_wanted(kind):
        return YamlDocument(TypeName("", kind), None, cut.first_line, cut.text)
    values = _load(cut)
    if not isinstance(values, list) or len(values) != 1:
        raise UnreadableError(say("yaml.not_one_item", "is not one item"), cut.first_line)
    return _document(values[0], inherited, cut)


def _whole(piece: _Piece) -> Iterator[YamlDocument]:
    value = _load(piece)
    if isinstance(value, dict) and is_export(value):
        for name, part in opened(value):
            yield _document(part, name, _Piece("", piece.first_line))
        return
    if isinstance(value, dict) and isinstance(value.get("items"), list) and "kind" not in value:
        line = piece.first_line + piece.text.rstrip().count("\n") + 1
        raise UnreadableError(say("yaml.no_list_kind", "is a list without its kind"), line)
    items, inherited = _opened(value)
    source = piece if len(items) == 1 else _Piece("", piece.first_line)
    for item in items:
        yield _document(item, inherited, source)


def _opened(value: Plain) -> tuple[list[Plain], TypeName]:
    """The items of a list and what they inherit from it; another value is its own only item."""
    nothing = TypeName("", "")
    if isinstance(value, list):
        return value, nothing
    inherited = _list_name(value)
    if isinstance(value, dict) and inherited is not None:
        items = value.get("items")
        if isinstance(items, list):
            return items, inherited
        if items is None and ("items" in value or not inherited.kind):
            return [], inherited
    return [value], nothing


def _list_name(value: Plain) -> TypeName | None:
    """What the items of a list are when they do not say it themselves."""
    if not isinstance(value, dict):
        return None
    version, kind = value.get("apiVersion"), value.get("kind")
    if not isinstance(kind, str) or not kind.endswith(_LIST_SUFFIX):
        return None
    return TypeName(version if isinstance(version, str) else "", kind.removesuffix(_LIST_SUFFIX))


def _document(value: Plain, inherited: TypeName, source: _Piece) -> YamlDocument:
    if not isinstance(value, dict):
        raise UnreadableError(
            say("yaml.not_object", "is not an object but {what}", what=kind_of(value)),
            source.first_line,
        )
    try:
        own = type_name(value)
    except FieldError as error:
        raise UnreadableError(
            say("field.problem", "{field} {problem}", field=error.field, problem=error.message),
            source.first_line,
        ) from None
    if inherited.kind:
        own = TypeName(own.api_version or inherited.api_version, own.kind or inherited.kind)
    return YamlDocument(own, value, source.first_line, source.text)


def _load(piece: _Piece) -> Plain:
    openings = sum(
        piece.text.count(bracket) - piece.text.count(empty)
        for bracket, empty in (("[", "[]"), ("{", "{}"))
    )
    if openings * len(piece.text) > _MAX_FLOW_WORK:
        problem = say(
            "yaml.too_many_brackets",
            "has too many [ and {{ to be read safely as YAML; convert it to JSON",
        )
        raise UnreadableError(problem, piece.first_line)
    try:
        loaded: Plain = value(piece.text)
    except (NotYaml, RecursionError) as error:
        raise _unreadable(error, piece.first_line) from None
    return loaded


def _unreadable(error: NotYaml | RecursionError, first_line: int) -> UnreadableError:
    message = str(error)
    found = _POSITION.search(message)
    line = first_line + int(found[1]) - 1 if found else first_line
    rest = _POSITION.sub("", message, count=1)
    shifted = _LINE.sub(lambda match: f"line {first_line + int(match[1]) - 1}", rest)
    return UnreadableError(say("yaml.not_yaml", "is not YAML: {shifted}", shifted=shifted), line)
