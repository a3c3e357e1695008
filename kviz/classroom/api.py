"""REST of a class: somebody answers, the teacher leads. The session identifies people.

No account and no token: a browser that came in has a seat, the one that opened the room leads.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.utils.translation import gettext
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz.accounts.authentication import enforce_csrf
from kviz.accounts.throttling import too_often
from kviz.by_hand.api import POD, MoveSerializer, board_move, board_read
from kviz.by_hand.documents import board_document
from kviz.by_hand.models import Attempt
from kviz.by_hand.services import attempt_get
from kviz.classroom import news, selectors, services
from kviz.classroom.documents import mine_document
from kviz.classroom.guessing import TooManyGuesses, room_behind
from kviz.classroom.models import Room
from kviz.classroom.seats import Door, door_of
from kviz.classroom.services import Refused
from kviz.common.problems import Problem
from kviz.lessons.grading import NotAnAnswer
from kviz.runs.inputs import InvalidInput
from scheduler_core.wording import say, told


class BrowserOnly(BaseAuthentication):
    """A browser's session, checked for forgery; nobody in particular."""

    def authenticate(self, request: Request) -> None:
        enforce_csrf(request._request)


class SeatScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI schema names a seat in a class."""

    target_class = "kviz.classroom.api.BrowserOnly"
    name = "seat"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}


class Anybody(BasePermission):
    """Each view looks into the session itself."""


class VoteAnswerSerializer(serializers.Serializer[object]):
    vote = serializers.IntegerField()
    answer = serializers.JSONField(help_text="A text, a number, or a list in order.")


DOES: dict[str, Callable[[Room, dict[str, Any]], None]] = {
    "go": lambda room, said: services.step_go(room=room, step=said["step"]),
    "show": lambda room, said: services.moment_go(room=room, query=said["query"]),
    "ask": lambda room, _: services.vote_open(room=room),
    "second-try": lambda room, _: services.vote_open(room=room, is_second_try=True),
    "ask-own": lambda room, said: services.own_ask(
        room=room,
        ask=said["question"],
        kind=said["asks_for"],
        options=said["options"],
        answer=said["right"],
    ),
    "leave-own": lambda room, _: services.own_leave(room=room),
    "close-vote": lambda room, _: services.vote_close(room=room),
    "reveal": lambda room, _: services.step_reveal(room=room),
    "freeze": lambda room, said: services.class_hold(room=room, on=said["on"]),
    "black": lambda room, said: services.class_black_out(room=room, on=said["on"]),
    "score": lambda room, said: services.class_score(room=room, on=said["on"]),
    "hand": lambda room, said: services.pointer_hand(room=room, seat=said["seat"]),
    "draw": lambda room, said: services.mark_add(
        room=room, kind=said["kind"], points=said["points"]
    ),
    "wipe": lambda room, _: services.marks_wipe(room=room),
    "try": lambda room, said: services.task_try(room=room, changes=said["changes"]),
    "play": lambda room, _: services.contest_start(room=room),
    "play-reveal": lambda room, _: services.contest_reveal(room=room),
    "play-show": lambda room, said: services.contest_show(room=room, seat=said["seat"]),
    "play-stop": lambda room, _: services.contest_stop(room=room),
    "end": lambda room, _: services.room_close(room=room),
}
"""What a teacher may say, and what comes of it."""


class ControlSerializer(serializers.Serializer[object]):
    """What the teacher does, with what that takes."""

    do = serializers.ChoiceField(choices=sorted(DOES))
    step = serializers.IntegerField(min_value=0, default=0)
    query = serializers.CharField(max_length=2000, default="", allow_blank=True)
    on = serializers.BooleanField(default=True)
    seat = serializers.IntegerField(min_value=0, default=0)
    changes = serializers.CharField(max_length=5000, default="", allow_blank=True)
    question = serializers.CharField(max_length=300, default="", allow_blank=True)
    asks_for = serializers.ChoiceField(choices=["choice", "number", "node"], default="choice")
    options = serializers.ListField(
        child=serializers.CharField(max_length=200, allow_blank=True), max_length=30, default=list
    )
    right = serializers.CharField(max_length=200, default="", allow_blank=True)
    kind = serializers.ChoiceField(choices=["circle", "pen"], default="pen")
    points = serializers.ListField(
        child=serializers.ListField(
            child=serializers.IntegerField(min_value=0, max_value=1000), min_length=2, max_length=2
        ),
        max_length=services.MAX_POINTS,
        default=list,
    )


class _InRoom(APIView):
    authentication_classes = [BrowserOnly]
    permission_classes = [Anybody]

    def door(self, request: Request, code: str) -> Door:
        """Who this browser is in the class: teacher or participant. Raises Problem."""
        try:
            room = room_behind(request._request, code)
        except TooManyGuesses:
            raise Problem(
                HTTPStatus.TOO_MANY_REQUESTS, say("class.wrong_codes", "Too many wrong codes.")
            ) from None
        if room is None:
            raise Problem(
                HTTPStatus.NOT_FOUND,
                say("class.no_class_code", "There is no class with this code."),
            )
        return door_of(request._request.session, room)


class ClassAnswer(_InRoom):
    @extend_schema(responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, code: str) -> Response:
        """What I answered last; at a second try also whether my answer before it was right."""
        door = self.door(request, code)
        if door.participant is None:
            raise _not_answering()
        return Response(mine_document(door.room, door.participant))

    @extend_schema(request=VoteAnswerSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, code: str) -> Response:
        """Answer the vote that is open; until it is closed, the last answer counts."""
        door = self.door(request, code)
        if door.participant is None:
            raise _not_answering()
        asked = VoteAnswerSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        try:
            services.answer_give(
                room=door.room,
                participant=door.participant,
                vote_id=said["vote"],
                given=said["answer"],
            )
        except Refused as refused:
            raise Problem(HTTPStatus.CONFLICT, told(refused)) from refused
        except NotAnAnswer as error:
            raise Problem(HTTPStatus.BAD_REQUEST, told(error)) from error
        return Response(mine_document(door.room, door.participant))


class ProposalSerializer(serializers.Serializer[object]):
    changes = serializers.CharField(max_length=1000)


class ClassProposal(_InRoom):
    @extend_schema(request=ProposalSerializer, responses={204: None})
    def post(self, request: Request, code: str) -> Response:
        """Propose changes for the step's task, one per line; the teacher picks what is run."""
        door = self.door(request, code)
        if door.participant is None:
            raise _not_answering()
        asked = ProposalSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        changes = asked.validated_data["changes"]
        try:
            services.task_propose(room=door.room, participant=door.participant, changes=changes)
        except Refused as refused:
            raise Problem(HTTPStatus.CONFLICT, told(refused)) from refused
        except InvalidInput as invalid:
            raise Problem(HTTPStatus.BAD_REQUEST, told(invalid)) from invalid
        return Response(status=HTTPStatus.NO_CONTENT)


def _not_answering() -> Problem:
    text = say("class.may_not_answer", "Only participants of the class may answer.")
    return Problem(HTTPStatus.FORBIDDEN, text)


class ClassBoard(_InRoom):
    """The board of somebody in the class, while it places pods by hand."""

    @extend_schema(parameters=[POD], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, code: str) -> Response:
        """My board; what the scheduler makes of it is in it once the teacher has shown that."""
        door = self.door(request, code)
        held = selectors.held_document(door.room)["contest"] if door.room.held else None
        is_secret = held is not None and not held["is_revealed"]
        return board_read(request, self._attempt(door), is_secret=is_secret)

    @extend_schema(request=MoveSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, code: str) -> Response:
        """Place a pod, take the last move back, begin again, or be done; 409 with the reason."""
        door = self.door(request, code)
        attempt = self._attempt(door)
        if door.room.held is not None:
            text = gettext("The class is frozen: pods stay where they are.")
            raise Problem(HTTPStatus.CONFLICT, text)
        was_new = not attempt.moves
        board_move(request, attempt)
        if was_new or attempt.is_finished:
            news.tell(door.room.pk)
        return Response(board_document(attempt))

    def _attempt(self, door: Door) -> Attempt:
        contest = selectors.contest_seen(door.room)
        if door.participant is None:
            raise Problem(
                HTTPStatus.FORBIDDEN,
                say("class.may_not_place", "Only participants of the class may place pods."),
            )
        if contest is None:
            raise Problem(HTTPStatus.CONFLICT, gettext("The class places no pods now."))
        return attempt_get(game=contest.game, player=door.participant.number)


class ClassControl(_InRoom):
    @extend_schema(request=ControlSerializer, responses={204: None})
    def post(self, request: Request, code: str) -> Response:
        """Lead the class; what comes of it arrives over the websocket."""
        door = self.door(request, code)
        if not door.is_teacher:
            raise Problem(
                HTTPStatus.FORBIDDEN,
                say("class.teacher_only", "Only the teacher of this class may do this."),
            )
        asked = ControlSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        said = asked.validated_data
        if said["do"] == "try" and (refusal := too_often(request._request, "run")):
            raise Problem(HTTPStatus.TOO_MANY_REQUESTS, str(refusal["message"]))
        try:
            DOES[said["do"]](door.room, said)
        except Refused as refused:
            raise Problem(HTTPStatus.CONFLICT, told(refused)) from refused
        except InvalidInput as invalid:
            raise Problem(HTTPStatus.BAD_REQUEST, told(invalid)) from invalid
        return Response(status=HTTPStatus.NO_CONTENT)
