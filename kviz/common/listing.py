"""What the lists of clusters, runs and experiments share: pages, an order, what was ticked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, TypeVar
from uuid import UUID

from django.core.paginator import Page, Paginator
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest

ROWS_ON_A_PAGE: Final = 50
MAX_CHOSEN: Final = 1000
"""So many rows are deleted at once."""

Row = TypeVar("Row", bound=Model)


def page_of(
    request: HttpRequest, found: QuerySet[Row], orders: Mapping[str, tuple[str, ...]]
) -> Page[Row]:
    """The page that the address asks for, in the order that it asks for: columns by its name."""
    columns = orders.get(request.GET.get("sort", ""))
    ordered = found.order_by(*columns, "id") if columns else found
    return Paginator(ordered, ROWS_ON_A_PAGE).get_page(request.GET.get("page"))


def one_of(request: HttpRequest, name: str, values: Collection[str]) -> str:
    """What the address asks for if there is such a value, otherwise nothing."""
    asked = request.GET.get(name, "")
    return asked if asked in values else ""


def text_in(request: HttpRequest) -> str:
    """What is searched for."""
    return request.GET.get("q", "").strip()


def ticked(
    request: HttpRequest, name: str, row_of: Callable[[HttpRequest, UUID], Row]
) -> list[Row]:
    """The rows that were ticked; `row_of` gets one. Raises Http404 for what is no row."""
    return [row_of(request, uuid_of(each)) for each in request.POST.getlist(name)[:MAX_CHOSEN]]


def uuid_of(text: str) -> UUID:
    """The id in an address or a form. Raises Http404."""
    try:
        return UUID(text)
    except ValueError:
        raise Http404(text) from None
