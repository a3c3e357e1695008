"""REST: what a real scheduler calls, and the sessions in which it does.

A scheduler waits for its extender, so what it calls takes no time.
"""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from kviz.accounts.authentication import workspace_in
from kviz.accounts.throttling import Scope
from kviz.common.paging import MAX_LIMIT
from kviz.common.problems import Problem
from kviz.extenders import selectors, services
from kviz.extenders.answering import VERBS, answer
from kviz.extenders.configuration import configuration_for, path_of
from kviz.extenders.incoming import Verb
from kviz.extenders.known import known_sessions
from kviz.extenders.models import ExtenderSession
from kviz.extenders.recorder import recorder
from kviz.snapshots.selectors import snapshot_get
from scheduler_core.wording import say


@csrf_exempt
@require_POST
def extend(request: HttpRequest, token: str, verb: str) -> HttpResponse:
    """Answer the first call of a session in this process. The token is all the proof there is.

    The next are answered before they come here (`kviz.project.extender_deadline`).
    """
    session = known_sessions.look_up(token)
    if session is None or verb not in VERBS:
        raise Http404(verb)
    session.is_called_by(request.headers.get("Host", ""))
    length = request.headers.get("Content-Length", "")
    return answer(session, Verb(verb), length, lambda: request.body)


# ---------------------------------------------------------------- sessions


class SessionSerializer(serializers.ModelSerializer[ExtenderSession]):
    name = serializers.CharField(source="run.name", help_text="Empty if it was given none.")
    attempts = serializers.IntegerField(
        source="run.cycles",
        help_text="That called kviz. One in which no node passes the scheduler's own filters, and "
        "preemption finds no candidate, calls no extender.",
    )
    listening = serializers.BooleanField(
        source="is_listening", help_text="Whether calls are recorded."
    )

    calls_missed = serializers.IntegerField(
        source="run.calls_missed", help_text="That could not be recorded."
    )

    class Meta:
        model = ExtenderSession
        fields = [
            "id",
            "name",
            "run",
            "filled_by",
            "attempts",
            "calls_missed",
            "listening",
            "created_at",
            "revoked_at",
        ]


class SessionWithAddressSerializer(SessionSerializer):
    url_prefix = serializers.CharField(help_text="A secret: whoever has it can add to the session.")
    configuration = serializers.CharField(
        help_text="What belongs in the file that kube-scheduler reads with --config."
    )

    class Meta(SessionSerializer.Meta):
        fields = [*SessionSerializer.Meta.fields, "url_prefix", "configuration"]


class SessionCreateSerializer(serializers.Serializer[object]):
    name = serializers.CharField(required=False, allow_blank=True, max_length=200, default="")
    snapshot = serializers.UUIDField(
        required=False, allow_null=True, default=None, help_text="What nodes look like."
    )
    filled_by = serializers.UUIDField(
        required=False,
        allow_null=True,
        default=None,
        help_text="The run of its cluster, which is being followed: it tells what nodes are like, "
        "where pods went, and the scheduler's Events.",
    )


class SessionViewSet(GenericViewSet[ExtenderSession]):
    queryset = ExtenderSession.objects.none()
    serializer_class = SessionSerializer
    lookup_url_kwarg = "session_id"
    lookup_value_converter = "uuid"

    @property
    def throttle_scope(self) -> Scope | None:
        return "run" if self.action == "create" else None

    @extend_schema(responses=SessionSerializer(many=True))
    def list(self, request: Request) -> Response:
        """The workspace's sessions in which kviz is a scheduler's extender, newest first."""
        sessions = selectors.session_list(workspace=workspace_in(request))[:MAX_LIMIT]
        return Response(SessionSerializer(sessions, many=True).data)

    @extend_schema(request=SessionCreateSerializer, responses={201: SessionWithAddressSerializer})
    def create(self, request: Request) -> Response:
        """Begin a session; the answer has the address that a scheduler calls."""
        wanted = SessionCreateSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        workspace, snapshot = workspace_in(request), None
        if (snapshot_id := wanted.validated_data["snapshot"]) is not None:
            snapshot = snapshot_get(snapshot_id=snapshot_id, workspace=workspace)
            if snapshot is None:
                error = {"field": "snapshot", "message": "Not found."}
                text = say("snapshot.none", "There is no such snapshot in this workspace.")
                raise Problem(HTTPStatus.BAD_REQUEST, text, [error])
        filled_by = None
        if (run_id := wanted.validated_data["filled_by"]) is not None:
            filled_by = selectors.runs_that_fill(workspace=workspace).filter(pk=run_id).first()
            if filled_by is None:
                error = {"field": "filled_by", "message": "Not found."}
                text = say(
                    "cluster.none", "There is no such cluster being followed in this workspace."
                )
                raise Problem(HTTPStatus.BAD_REQUEST, text, [error])
        session = services.session_create(
            workspace=workspace,
            name=wanted.validated_data["name"],
            snapshot=snapshot,
            filled_by=filled_by,
        )
        if filled_by is not None:
            recorder.look(session.run_id)
        return self._whole(request, session, HTTPStatus.CREATED)

    @extend_schema(responses=SessionWithAddressSerializer)
    def retrieve(self, request: Request, session_id: UUID) -> Response:
        """A session, with its address."""
        return self._whole(request, self._own(request, session_id), HTTPStatus.OK)

    @extend_schema(request=None, responses=SessionSerializer)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, session_id: UUID) -> Response:
        """Answer no more calls at its address, and end its run; what was seen stays."""
        services.session_revoke(session=self._own(request, session_id))
        return Response(SessionSerializer(self._own(request, session_id)).data)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, session_id: UUID) -> Response:
        """Revoke and forget a session; its run stays."""
        services.session_delete(session=self._own(request, session_id))
        return Response(status=HTTPStatus.NO_CONTENT)

    def _own(self, request: Request, session_id: UUID) -> ExtenderSession:
        found = selectors.session_get(session_id=session_id, workspace=workspace_in(request))
        if found is None:
            raise Problem(
                HTTPStatus.NOT_FOUND,
                say("session.none", "There is no such session in this workspace."),
            )
        return found

    def _whole(self, request: Request, session: ExtenderSession, status: HTTPStatus) -> Response:
        url = request.build_absolute_uri(path_of(session))
        known_sessions.expect(session, request.get_host())
        more = {"url_prefix": url, "configuration": configuration_for(url)}
        return Response(SessionSerializer(session).data | more, status=status)
