"""Small pieces of the design that templates repeat: icons, bars, resource amounts."""

from __future__ import annotations

import re

from django import template
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from scheduler_core.amounts import amount_text, amounts_text, in_one_unit
from scheduler_core.releases import RELEASES

register = template.Library()


@register.simple_tag
def known_releases() -> str:
    """The Kubernetes releases whose scheduler a run may follow: `v1.36.2, v1.37.2`."""
    return ", ".join(f"v{name}" for name in RELEASES)


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon of the sprite; decoration only, so the text beside it must say the same."""
    return format_html(
        '<svg class="icon" aria-hidden="true"><use href="{}#{}"></use></svg>',
        static("img/icons.svg"),
        name,
    )


@register.simple_tag
def bar(value: int, whole: int, meaning: str = "feasible") -> SafeString:
    """A bar of `value` out of `whole`; the number itself belongs beside it, as text."""
    width = 100 * value / whole if whole > 0 else 0
    return format_html(
        '<svg class="bar bar--{}" viewBox="0 0 100 1" preserveAspectRatio="none" '
        'aria-hidden="true"><rect width="{}" height="1"></rect></svg>',
        meaning,
        f"{width:.2f}",
    )


@register.simple_tag
def grows(share: int) -> SafeString:
    """The attribute of a part of a row that takes a share of its width."""
    return format_html('style="flex-grow:{}"', share)


@register.filter
def camel_breaks(name: str) -> SafeString:
    """A plugin's name that a narrow column may break before its capital letters."""
    words = re.findall(r"[A-Z][^A-Z]*|[^A-Z]+", name)
    return format_html_join(mark_safe("<wbr>"), "{}", ((word,) for word in words))


@register.filter
def amount(value: int, resource: str) -> str:
    """An amount of a resource that stands alone: `500m`, `2Gi`."""
    return amount_text(resource, value)


@register.simple_tag
def part_of(resource: str, part: int, whole: int) -> str:
    """Two amounts of a resource in one unit: `0.5 / 16`."""
    return " / ".join(in_one_unit(resource, part, whole))


register.filter("amounts", amounts_text)
