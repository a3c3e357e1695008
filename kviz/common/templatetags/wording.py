"""What the engine says, on pages."""

from __future__ import annotations

from django import template

from kviz.common.wording import translated

register = template.Library()

register.filter("translated", translated)
