"""Pages of a class: the door, the room, the teacher's desk, the projector."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from uuid import UUID

import segno
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.views.decorators.http import require_GET, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.by_hand.access import own_attempt
from kviz.classroom import selectors, services
from kviz.classroom.crowding import origin_of
from kviz.classroom.guessing import KEY, TooManyGuesses, key_of, room_behind
from kviz.classroom.models import Room
from kviz.classroom.seats import Door, door_of, may_teach, remember_seat, remember_teacher
from kviz.classroom.selectors import IDLE_AFTER
from kviz.classroom.services import Refused
from kviz.classroom.steps import title_of
from kviz.common.csv_file import MEDIA_TYPE, csv_pieces
from kviz.common.wording import translated
from kviz.lessons import homework
from kviz.lessons.access import lesson_named
from kviz.lessons.selectors import lessons
from kviz.runs.inputs import InvalidInput
from kviz.runs.pages.access import own_run_of
from scheduler_core.wording import told

# An address as a QR code.


def qr_svg(address: str, label: str) -> SafeString:
    """The code as SVG for a page: dark on light in both themes, or phones would not read it."""
    out = io.BytesIO()
    segno.make(address, error="m", micro=False).save(
        out,
        kind="svg",
        xmldecl=False,
        svgns=True,
        title=label,
        svgclass="qr",
        lineclass=None,
        omitsize=True,
        border=4,
        dark="#000",
        light="#fff",
    )
    return mark_safe(out.getvalue().decode())


@require_GET
def class_door(request: HttpRequest) -> HttpResponse:
    """Where the code of a class is typed: one field."""
    return render(request, "classroom/code.html", {})


@require_GET
def class_home(request: HttpRequest) -> HttpResponse:
    """For teachers: open a class, or return to one that the workspace has open."""
    services.rooms_close_late()
    rooms = selectors.rooms_of(workspace=workspace_of(request))
    listed = [found for room in rooms if (found := _listed(request, room)) is not None]
    context = {
        "section": "teach",
        "rooms": listed,
        "n_idle": sum(bool(each["is_idle"]) for each in listed),
        "idle_minutes": IDLE_AFTER // dt.timedelta(minutes=1),
        "lessons": lessons().lessons,
        "homework": homework.given_by(workspace_of(request)),
        "is_local": settings.MODE == "local",
        "hours": settings.CLASS_HOURS,
    }
    return render(request, "classroom/home.html", context)


def _listed(request: HttpRequest, room: Room) -> dict[str, object] | None:
    """A room of the workspace as the list has it; None for who may not lead it."""
    is_mine = door_of(request.session, room).is_teacher
    is_open = room.closed_at is None
    if not (is_mine or (is_open and may_teach(request.session, room))):
        return None
    n_in = selectors.n_in(room) if is_open else 0
    return {
        "room": room,
        "title": title_of(room),
        "n_in": n_in,
        "is_mine": is_mine,
        "is_idle": is_open and selectors.is_idle(room),
    }


@require_POST
def class_end_idle(request: HttpRequest) -> HttpResponse:
    """End the classes of the workspace in which nothing happens any more."""
    for room in selectors.rooms_of(workspace=workspace_of(request)):
        if room.closed_at is None and selectors.is_idle(room) and may_teach(request.session, room):
            services.room_close(room=room)
    return redirect("class-home")


@require_POST
def class_take(request: HttpRequest, room_id: UUID) -> HttpResponse:
    """Lead or end an open class of the workspace that another browser opened."""
    room = selectors.room_get(room_id)
    is_ours = room is not None and room.workspace_id == workspace_of(request).pk
    if room is None or not is_ours or room.closed_at or not may_teach(request.session, room):
        raise Http404(room_id)
    if request.POST.get("do") == "end":
        services.room_close(room=room)
        return redirect("class-home")
    remember_teacher(request.session, room)
    return redirect("class-lead", room.code)


@require_POST
def class_find(request: HttpRequest) -> HttpResponse:
    """To the room whose code was typed."""
    text = request.POST.get("code", "")
    try:
        room = room_behind(request, text)
    except TooManyGuesses:
        return _too_many(request)
    if room is None:
        messages.error(request, gettext("There is no class with this code."))
        return redirect("class-door")
    return redirect("class-room", room.code)


def _link(view: str, room: Room) -> str:
    """An address of a room, given its code: with the key, the code is not counted again."""
    return f"{reverse(view, args=[room.code])}?{KEY}={key_of(room)}"


def _too_many(request: HttpRequest) -> HttpResponse:
    text = gettext("Too many wrong codes came from here. Wait an hour.")
    context = {"section": "teach", "refused": text}
    return render(request, "classroom/closed.html", context, status=HTTPStatus.TOO_MANY_REQUESTS)


@require_POST
def class_open_lesson(request: HttpRequest, slug: str) -> HttpResponse:
    stored_lesson = lesson_named(slug)
    if stored_lesson is None:
        raise Http404(slug)
    if refused := too_often(request, "run"):
        messages.error(request, str(refused["message"]))
        return redirect("class-home")
    try:
        room = services.room_open_lesson(
            workspace=workspace_of(request), stored_lesson=stored_lesson
        )
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("class-home")
    remember_teacher(request.session, room)
    return redirect("class-lead", room.code)


@require_POST
def class_open_run(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = own_run_of(request, run_id)
    cycle = request.POST.get("cycle", "0")
    if refused := too_often(request, "run"):
        messages.error(request, str(refused["message"]))
        return redirect("run-detail", run_id)
    try:
        known = min(int(cycle), run.cycles) if cycle.isdigit() else 0
        room = services.room_open_run(workspace=workspace_of(request), run=run, cycle=known)
    except InvalidInput as invalid:
        messages.error(request, translated(told(invalid)))
        return redirect("run-detail", run_id)
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("run-detail", run_id)
    remember_teacher(request.session, room)
    return redirect("class-lead", room.code)


@require_POST
def class_open_game(request: HttpRequest, game_id: UUID) -> HttpResponse:
    """Play with a class what somebody plays alone."""
    workspace = workspace_of(request)
    alone = own_attempt(workspace=workspace, game_id=game_id)
    if alone is None:
        raise Http404(game_id)
    if refused := too_often(request, "run"):
        messages.error(request, str(refused["message"]))
        return redirect("by-hand-game", game_id)
    try:
        room = services.room_open_game(workspace=workspace, run=alone.game.run)
    except Refused as refusal:
        messages.error(request, str(refusal))
        return redirect("by-hand-game", game_id)
    remember_teacher(request.session, room)
    return redirect("class-lead", room.code)


@require_GET
def class_room(request: HttpRequest, code: str) -> HttpResponse:
    """The room itself, or its door for people who are not in yet."""
    door = _door(request, code)
    if isinstance(door, HttpResponse):
        return door
    if door.participant is None and not door.is_teacher:
        context = {
            "room": door.room,
            "title": title_of(door.room),
            "join": _link("class-join", door.room),
        }
        return render(request, "classroom/door.html", context)
    return render(request, "classroom/room.html", _context(request, door, "class"))


@require_POST
def class_join(request: HttpRequest, code: str) -> HttpResponse:
    door = _door(request, code)
    if isinstance(door, HttpResponse):
        return door
    if door.participant is None:
        try:
            seat = services.participant_join(
                room=door.room,
                name=request.POST.get("name", ""),
                origin=origin_of(request, door.room),
            )
        except Refused as refusal:
            messages.error(request, str(refusal))
            return redirect(_link("class-room", door.room))
        remember_seat(request.session, door.room, seat)
    return redirect("class-room", door.room.code)


def teacher_only(
    view: Callable[[HttpRequest, Door], HttpResponse],
) -> Callable[[HttpRequest, str], HttpResponse]:
    """Show a page to the room's teacher: for others there is no such page (Http404)."""

    @wraps(view)
    def guarded(request: HttpRequest, code: str) -> HttpResponse:
        door = _door(request, code)
        if isinstance(door, HttpResponse):
            return door
        if not door.is_teacher:
            raise Http404(code)
        return view(request, door)

    return guarded


@require_GET
@teacher_only
def class_lead(request: HttpRequest, door: Door) -> HttpResponse:
    """The presenter's view."""
    return render(request, "classroom/lead.html", _context(request, door, "teacher"))


@require_GET
@teacher_only
def class_screen(request: HttpRequest, door: Door) -> HttpResponse:
    """What the projector shows."""
    return render(request, "classroom/screen.html", _context(request, door, "screen"))


@require_POST
@teacher_only
def class_end(request: HttpRequest, door: Door) -> HttpResponse:
    services.room_close(room=door.room)
    return redirect("class-home")


@require_GET
def class_answers(request: HttpRequest, room_id: UUID) -> HttpResponseBase:
    """All answers as a table; names are in it while the class lasts."""
    room = selectors.room_get(room_id)
    if room is None or not door_of(request.session, room).is_teacher:
        raise Http404(room_id)
    pieces = csv_pieces(selectors.COLUMNS, [selectors.table_rows(room)])
    answer = StreamingHttpResponse(pieces, content_type=MEDIA_TYPE)
    answer["Content-Disposition"] = f'attachment; filename="class-{room.code}.csv"'
    return answer


def _door(request: HttpRequest, code: str) -> Door | HttpResponse:
    """Who this browser is in the room with this code, or the page that says there is none."""
    try:
        room = room_behind(request, code)
    except TooManyGuesses:
        return _too_many(request)
    if room is None:
        context = {"section": "teach", "code": code}
        return render(request, "classroom/closed.html", context, status=HTTPStatus.NOT_FOUND)
    return door_of(request.session, room)


def _context(request: HttpRequest, door: Door, audience: str) -> dict[str, object]:
    address = request.build_absolute_uri(reverse("class-room", args=[door.room.code]))
    link = request.build_absolute_uri(_link("class-room", door.room))
    return {
        "section": "teach",
        "room": door.room,
        "title": title_of(door.room),
        "audience": audience,
        "seat": door.participant.number if door.participant else 0,
        "address": address.removeprefix("https://").removeprefix("http://"),
        "qr": qr_svg(link, address),
        "is_local": settings.MODE == "local",
    }
