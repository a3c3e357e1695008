"""Terms explained where they stand, without JavaScript: a button that opens a note."""

from __future__ import annotations

from secrets import token_hex

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from kviz.reference import glossary as source
from kviz.reference.glossary import Diagram, Glossary, Term

register = template.Library()


@register.simple_tag
def term(key: str, text: str = "") -> SafeString:
    """The term in the words of the page (its name if there are none) and what it means."""
    found = source.glossary().terms[key]
    return format_html(
        '<button type="button" class="term" popovertarget="{id}">{text}</button>'
        '<span class="term__note" id="{id}" popover role="note"><strong>{name}</strong> '
        '{means}{example} <a href="{glossary}#{key}">{more}</a></span>',
        id=f"term-{token_hex(4)}",
        text=text or found.name,
        name=found.name,
        means=found.text,
        example=format_html("<code>{}</code>", found.example) if found.example else "",
        glossary=reverse("glossary"),
        key=key,
        more=_("In the glossary"),
    )


@register.simple_tag
def point_term(point: str) -> str:
    """The name of an extension point, explained if it has a term."""
    terms = source.glossary().terms.items()
    return next((term(key) for key, found in terms if found.name == point), point)


@register.simple_tag
def plugin_terms(plugin: str) -> list[str]:
    """The terms a plugin is about."""
    return [key for key, found in source.glossary().terms.items() if found.plugin == plugin]


@register.simple_tag
def term_name(key: str) -> str:
    return source.glossary().terms[key].name


@register.simple_tag
def diagram(name: Diagram) -> SafeString:
    """A diagram of the glossary, inline so that it follows the theme."""
    return mark_safe(source.diagram(name))


@register.filter
def terms_of(glossary: Glossary, group: str) -> list[tuple[str, Term]]:
    return list(glossary.of_group(group).items())
