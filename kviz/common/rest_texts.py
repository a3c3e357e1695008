"""What Django REST framework says and its own Chinese catalogues lack, so that kviz's have it.

Only what kviz can answer with is here; `tests/web/test_rest_texts.py` knows what that is.
"""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_noop as _

OF_EXCEPTIONS: Final = (
    _("A server error occurred."),
    _("Invalid input."),
    _("Malformed request."),
    _("Incorrect authentication credentials."),
    _("Authentication credentials were not provided."),
    _("Could not satisfy the request Accept header."),
    _('Unsupported media type "{media_type}" in request.'),
    _("Request was throttled."),
    _("Expected available in {wait} second."),
    _("Expected available in {wait} seconds."),
)
OF_FIELDS: Final = (
    _("Must be a valid boolean."),
    _("Not a valid string."),
    _("Must be a valid UUID."),
    _("Integer value too large to convert to float"),
    _("No filename could be determined."),
    _("Ensure this filename has at most {max_length} characters (it has {length})."),
    _("Ensure this field has at least {min_length} elements."),
    _("Ensure this field has no more than {max_length} elements."),
    _('Expected a dictionary of items but got type "{input_type}".'),
    _("This dictionary may not be empty."),
    _("Surrogate characters are not allowed: U+{code_point:X}."),
)
