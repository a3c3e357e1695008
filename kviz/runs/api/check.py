"""REST: what is wrong with a configuration and a scenario, before anything is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from kviz.accounts.authentication import workspace_in
from kviz.accounts.middleware import share_of
from kviz.accounts.throttling import Scope
from kviz.common.fields import DocumentField
from kviz.common.problems import ErrorItem
from kviz.runs.api.release_field import ReleaseField
from kviz.runs.execution.engine import warnings_of
from kviz.runs.inputs import InvalidInput, gates_of, release_for, scenario_of
from kviz.runs.profiles import profiles_of
from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import snapshot_get
from scheduler_core.changes import sentence
from scheduler_core.changes.applying import RestingCluster
from scheduler_core.config import Problem, located
from scheduler_core.releases.choosing import AUTO, Chosen

NOTHING_THERE: Final = RestingCluster(())
"""A step's sentence names no old values: at its time they may be others than in the cluster."""


class CheckSerializer(serializers.Serializer[object]):
    scheduler_config = DocumentField()
    scenario = DocumentField()
    release = ReleaseField(required=False)
    snapshot = serializers.UUIDField(
        required=False,
        help_text="The cluster that release auto is chosen for, and that panics are looked for in.",
    )
    feature_gates = serializers.DictField(child=serializers.BooleanField(), required=False)


class FoundSerializer(serializers.Serializer[object]):
    field = serializers.CharField(help_text="scheduler_config, scenario or feature_gates.")
    path = serializers.CharField(required=False, help_text="The field within the document.")
    line = serializers.IntegerField(required=False, help_text="Counted from 1, where it is known.")
    message = serializers.CharField()


class StepSerializer(serializers.Serializer[object]):
    place = serializers.IntegerField(help_text="Its index among the steps of the file.")
    at_ns = serializers.IntegerField(help_text="Nanoseconds after the start of the run.")
    sentence = serializers.CharField()
    note = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)


class PluginOfProfileSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    implements = serializers.ListField(child=serializers.CharField())
    points = serializers.ListField(
        child=serializers.CharField(), help_text="Those at which the profile runs it."
    )
    weight = serializers.IntegerField(allow_null=True, help_text="Null where Score does not run.")


class ProfileSerializer(serializers.Serializer[object]):
    scheduler_name = serializers.CharField()
    percentage_of_nodes_to_score = serializers.IntegerField(help_text="0 is adaptive.")
    scoring_strategy = serializers.CharField(help_text="That of NodeResourcesFit.")
    default_spreading = serializers.CharField(help_text="defaultingType of PodTopologySpread.")
    plugins = PluginOfProfileSerializer(many=True)


class CheckedSerializer(serializers.Serializer[object]):
    problems = FoundSerializer(many=True)
    warnings = FoundSerializer(many=True)
    steps = StepSerializer(many=True, help_text="The scenario's steps in order of time.")
    profiles = ProfileSerializer(
        many=True, help_text="What the configuration comes to; empty while something is wrong."
    )
    release_text = serializers.CharField(
        help_text="The release that they were checked for, and what it was chosen by."
    )


class RunCheck(APIView):
    """A run's inputs, checked as when a run is made; no run is."""

    throttle_scope: Scope = "check"

    @extend_schema(request=CheckSerializer, responses=CheckedSerializer)
    def post(self, request: Request) -> Response:
        """Say what is wrong with a configuration and a scenario, line by line."""
        wanted = CheckSerializer(data=request.data)
        wanted.is_valid(raise_exception=True)
        values = cast("Mapping[str, Any]", wanted.validated_data)
        config, scenario = values.get("scheduler_config", ""), values.get("scenario", "")
        snapshot = _snapshot(request, values)
        chosen = release_for(values.get("release", AUTO), snapshot)
        problems, steps = _check_scenario(scenario)
        others, warnings = _check_configuration(
            config, "" if problems else scenario, values, chosen, snapshot
        )
        return Response(
            {
                "problems": [*problems, *others],
                "warnings": warnings,
                "steps": steps,
                "profiles": []
                if problems or others
                else _profiles(config, scenario, values, chosen),
                "release_text": chosen.text,
            }
        )


def _profiles(config: str, scenario: str, values: Mapping[str, Any], chosen: Chosen) -> object:
    gates = gates_of(asked=values.get("feature_gates", {}), scenario=scenario, chosen=chosen)
    found = profiles_of(scheduler_config=config, gates=gates)
    return ProfileSerializer(found, many=True).data


def _snapshot(request: Request, values: Mapping[str, Any]) -> Snapshot | None:
    """The cluster that is named, if there is one and it may be seen."""
    if "snapshot" not in values:
        return None
    workspace, share = workspace_in(request), share_of(request._request)
    return snapshot_get(snapshot_id=values["snapshot"], workspace=workspace, share=share)


def _check_scenario(text: str) -> tuple[list[ErrorItem], list[dict[str, object]]]:
    """Return what is wrong with a scenario, or else its steps."""
    try:
        steps = scenario_of(text).steps
    except InvalidInput as invalid:
        return list(invalid.errors), []
    places = located([Problem(("steps", step.place), "") for step in steps], text)
    return [], [
        {
            "place": step.place,
            "at_ns": step.at_ns,
            "sentence": sentence(step.action, NOTHING_THERE),
            "note": step.note,
            "line": place.line,
        }
        for step, place in zip(steps, places, strict=True)
    ]


def _check_configuration(
    config: str,
    scenario: str,
    values: Mapping[str, Any],
    chosen: Chosen,
    snapshot: Snapshot | None,
) -> tuple[list[ErrorItem], list[ErrorItem]]:
    """Return errors and warnings about a configuration, and about the gates that go with it."""
    try:
        return [], warnings_of(
            scheduler_config=config,
            scenario=scenario,
            asked=values.get("feature_gates", {}),
            chosen=chosen,
            snapshot=snapshot,
        )
    except InvalidInput as invalid:
        return list(invalid.errors), []
