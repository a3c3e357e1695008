"""What every operation of the REST interface has in common, told once in its OpenAPI schema."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from kviz.common.problems import CONTENT_TYPE

PROBLEM: Final = {
    "type": "object",
    "description": "RFC 9457: what is wrong, and with which file or field.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["message"],
                "properties": {
                    "message": {"type": "string"},
                    "file": {"type": "string"},
                    "document": {"type": "integer"},
                    "line": {"type": "integer"},
                    "path": {"type": "string"},
                    "field": {"type": "string"},
                },
            },
        },
    },
}

ANYWHERE: Final = {
    HTTPStatus.BAD_REQUEST: "The request is not valid.",
    HTTPStatus.UNAUTHORIZED: "The token is not known.",
    HTTPStatus.FORBIDDEN: "Reading is allowed here, or the request could be a forged one.",
    HTTPStatus.NOT_FOUND: "There is no such thing, or it is somebody else's.",
    HTTPStatus.GONE: "The share link was revoked or has expired.",
    HTTPStatus.NOT_ACCEPTABLE: "None of the media types asked for is to be had.",
    HTTPStatus.CONFLICT: "Not in the present state.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too often; `Retry-After` says when to come back.",
    HTTPStatus.SERVICE_UNAVAILABLE: "For a moment; `Retry-After` says how long.",
}
WITH_A_BODY: Final = {
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "More than is allowed.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "A body of another type.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Nothing of what was sent can be used.",
}


def describe_problems(result: dict[str, Any], **_: object) -> dict[str, Any]:
    """Add the answers that any operation may give instead of its own."""
    components = result["components"]
    components.setdefault("schemas", {})["Problem"] = PROBLEM
    components["responses"] = {
        _name(status): {
            "description": text,
            "content": {CONTENT_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
        }
        for status, text in (ANYWHERE | WITH_A_BODY).items()
    }
    for item in result["paths"].values():
        for method, operation in item.items():
            for status in ANYWHERE | (WITH_A_BODY if method in ("post", "put", "patch") else {}):
                reference = {"$ref": f"#/components/responses/{_name(status)}"}
                operation["responses"].setdefault(str(status.value), reference)
    return result


def _name(status: HTTPStatus) -> str:
    return f"Problem{status.value}"
