"""REST: a board on which pods are placed by hand (docs/by-hand.md)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz.accounts.authentication import workspace_in
from kviz.by_hand import services
from kviz.by_hand.access import own_attempt
from kviz.by_hand.documents import board_document, look_document
from kviz.by_hand.models import Attempt
from kviz.by_hand.services import CannotPlay
from kviz.common.problems import Problem
from scheduler_core.wording import say, told

POD = OpenApiParameter("pod", str, description="Say of every node why this pod may not go there.")


class MoveSerializer(serializers.Serializer[object]):
    """What a player does; `place` takes `pod` and `node`."""

    do = serializers.ChoiceField(choices=["place", "undo", "reset", "finish"])
    pod = serializers.CharField(max_length=512, default="", allow_blank=True)
    node = serializers.CharField(max_length=256, default="", allow_blank=True)


def board_read(request: Request, attempt: Attempt, *, is_secret: bool = False) -> Response:
    """The board, or with `?pod=` what every node says of a pod."""
    pod = request.query_params.get("pod", "")
    if not pod:
        return Response(board_document(attempt, is_secret=is_secret))
    try:
        return Response(look_document(attempt, pod))
    except CannotPlay as refused:
        raise Problem(HTTPStatus.CONFLICT, told(refused)) from refused


def board_move(request: Request, attempt: Attempt) -> None:
    """Do what a player says. Raises Problem."""
    asked = MoveSerializer(data=request.data)
    asked.is_valid(raise_exception=True)
    said: dict[str, Any] = asked.validated_data
    try:
        match said["do"]:
            case "place":
                services.pod_place(attempt=attempt, pod=said["pod"], node=said["node"])
            case "undo":
                services.move_undo(attempt=attempt)
            case "reset":
                services.moves_reset(attempt=attempt)
            case _:
                services.attempt_finish(attempt=attempt)
    except CannotPlay as refused:
        raise Problem(HTTPStatus.CONFLICT, told(refused)) from refused


class Board(APIView):
    @extend_schema(parameters=[POD], responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, game_id: UUID) -> Response:
        """The board of a single player; once they are done, also the scheduler's result."""
        return board_read(request, _own(request, game_id))

    @extend_schema(request=MoveSerializer, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, game_id: UUID) -> Response:
        """Place a pod, take the last move back, begin again, or be done; 409 with the reason."""
        attempt = _own(request, game_id)
        if attempt.is_finished and request.data.get("do") == "reset":
            services.attempt_reopen(attempt=attempt)
        else:
            board_move(request, attempt)
        if attempt.is_finished:
            services.game_reveal(game=attempt.game)
        return Response(board_document(attempt))


def _own(request: Request, game_id: UUID) -> Attempt:
    found = own_attempt(workspace=workspace_in(request), game_id=game_id)
    if found is None:
        raise Problem(HTTPStatus.NOT_FOUND, say("by_hand.no_game", "There is no such game here."))
    return found
