"""The text of a file as people have it: in another encoding, with a command, in a ticket, no YAML.

What is left of it for the readers keeps its line numbers.
"""

import codecs
import re

from scheduler_core.api.errors import UnreadableError
from scheduler_core.wording import say

_COMMAND = re.compile(rb"\s*(?:\S*[$#%>] ?)?(?:kubectl|oc) (?:get|describe) [^\n]*\n")
_FENCE = b"```"
_FENCED = re.compile(rb"^```[^`\n]*\n(?P<text>.*?)(?:^```[ \t]*\r?$|\Z)", re.MULTILINE | re.DOTALL)
_OBJECT = re.compile(rb"^(?:- )?[ \"{]*(?:apiVersion|kind|items)\b", re.MULTILINE)
_DESCRIBED = re.compile(
    rb"Name: {2,}(?P<name>\S+)\n(?:Namespace: +(?P<namespace>\S+)\n)?(?=[A-Z][A-Za-z ]+:)"
)
_TABLE_HEADING = re.compile(rb"(?:NAMESPACE +)?(?:NAME|LAST SEEN) +[A-Z]")
_MESSAGE = re.compile(rb"[0-9]+/[0-9]+ nodes are available")
_OF_KUBECTL = re.compile(
    rb"error: |Error from server|Unable to connect to the server|The connection to the server"
    rb"|No resources found"
)
_HARD_BLANKS = re.compile(r"^[ \-]*\u00a0", re.MULTILINE)
_UTF16_SNIFFED = 64


def as_utf8(data: bytes | bytearray) -> bytes | bytearray:
    """The text without byte order mark; what PowerShell writes is turned into UTF-8."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else ""
    head = data[:_UTF16_SNIFFED]
    if head and not any(head[1::2]) and all(head[::2]):
        encoding = "utf-16-le"
    if encoding:
        try:
            return data.decode(encoding).encode()
        except UnicodeError:
            raise UnreadableError(
                say("file.bad_utf16", "is cut off or damaged UTF-16 text")
            ) from None
    return data


def objects_text(text: bytes | bytearray) -> bytes | bytearray:
    """The text without the command that was copied with it, and what is fenced in a ticket.

    Lines stay empty in place of what goes.
    """
    found = _COMMAND.match(text)
    if found is not None:
        text = _empty(found[0]) + text[found.end() :]
    return _fenced(text) if _FENCE in text else text


def _fenced(text: bytes | bytearray) -> bytes | bytearray:
    """What stands between Markdown's fences; of several, the parts that hold objects."""
    parts = list(_FENCED.finditer(text))
    parts = [each for each in parts if _OBJECT.search(each["text"])] or parts
    kept, end = bytearray(), 0
    for number, each in enumerate(parts):
        kept += _empty(text[end : each.start()]) + (b"---\n" if number else b"\n") + each["text"]
        end = each.end("text")
    return kept or text


def _empty(text: bytes | bytearray) -> bytes:
    return b"\n" * text.count(b"\n")


def as_text(data: bytes | bytearray) -> str:
    try:
        return data.decode().replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UnreadableError(
            say("file.not_utf8", "is not UTF-8 text (byte {start})", start=error.start), line
        ) from None


def hard_blanks(text: str) -> UnreadableError | None:
    """What to say of text that is indented with no-break spaces, as a chat or a wiki copies it."""
    found = _HARD_BLANKS.search(text) if "\u00a0" in text else None
    return found and UnreadableError(
        say(
            "file.hard_blanks",
            "is indented with no-break spaces, which YAML takes for letters; put blanks in their "
            "place",
        ),
        text.count("\n", 0, found.start()) + 1,
    )


def refuse_other_text(head: bytes) -> None:
    """Raises :class:`UnreadableError` for what people upload by mistake."""
    if not head:
        raise UnreadableError(say("file.empty", "is empty"))
    if b"\0" in head:
        raise UnreadableError(
            say("file.binary", "is binary; give YAML or JSON, plain or in a zip, tar or gzip")
        )
    if head.startswith(b"<"):
        raise UnreadableError(
            say("file.html", "is HTML or XML, not YAML or JSON; was a web page saved by mistake?")
        )
    if described := _DESCRIBED.match(head.replace(b"\r\n", b"\n")):
        name, space = (text.decode() for text in (described["name"], described["namespace"] or b""))
        wanted = f"pod {name} -n {space}" if space else f"node {name}"
        if b"\nPod Template:" in head:
            wanted = f"pods -n {space}"
        raise UnreadableError(
            say(
                "file.described",
                "is the text of `kubectl describe`; give what `kubectl get {wanted} -o yaml` "
                "prints, and the cluster's nodes and pods with it",
                wanted=wanted,
            )
        )
    if _TABLE_HEADING.match(head):
        raise UnreadableError(
            say(
                "file.kubectl_table",
                "is a table as kubectl prints it; add `-o yaml` to the command",
            )
        )
    if not _OBJECT.search(head):
        _refuse_messages(head)


def _refuse_messages(head: bytes) -> None:
    if _MESSAGE.search(head):
        raise UnreadableError(
            say(
                "file.message",
                "holds messages of the scheduler and no objects; give what `kubectl get "
                "nodes,pods -A -o yaml` prints, too",
            )
        )
    if _OF_KUBECTL.match(head):
        raise UnreadableError(
            say(
                "file.of_kubectl",
                "is what kubectl says in place of objects: {text}",
                text=head.splitlines()[0].decode(errors="replace"),
            )
        )
