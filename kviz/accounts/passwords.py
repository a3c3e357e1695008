"""What a password has to be, beside what Django asks of it."""

from __future__ import annotations

from django.contrib.auth.password_validation import MinimumLengthValidator
from django.utils.translation import ngettext


class LongEnough(MinimumLengthValidator):
    """Django's rule in words of kviz: its own catalogues do not have what it says now."""

    def get_error_message(self) -> str:
        text = ngettext(
            "The password needs at least %(n)d character.",
            "The password needs at least %(n)d characters.",
            self.min_length,
        )
        return text % {"n": self.min_length}
