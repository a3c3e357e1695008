"""A request's body as JSON: bounded, and no key stands twice in an object of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.utils.translation import gettext as _
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser
from rest_framework.utils import json

from scheduler_core.api.json_keys import has_repeated_keys, repeated_keys


class JsonBody(JSONParser):
    """Raises ParseError and RequestDataTooBig."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        most = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or 0
        data = stream.read(most + 1)
        if len(data) > most:
            raise RequestDataTooBig
        try:
            text = data.decode()
            value = json.loads(text, parse_constant=json.strict_constant)
        except ValueError as error:
            raise ParseError(_("This is not JSON: %(why)s.") % {"why": error}) from error
        except RecursionError as error:
            raise ParseError(_("The JSON is nested too deeply.")) from error
        if has_repeated_keys(text):
            found = next(repeated_keys(text))
            said = _("Line %(line)s: the key %(key)s stands twice in one object.")
            raise ParseError(said % {"line": found.line, "key": found.path})
        return value
