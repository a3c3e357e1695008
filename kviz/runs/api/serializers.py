"""REST: the documents of runs and cycles."""

from __future__ import annotations

from rest_framework import serializers

from kviz.common.fields import DocumentField
from kviz.runs.models import Cycle, Run


class RunCreateSerializer(serializers.Serializer[Run]):
    snapshot = serializers.UUIDField()
    scheduler_config = DocumentField()
    scenario = DocumentField()
    seed = serializers.IntegerField(required=False, min_value=-(2**63), max_value=2**63 - 1)


class RunSerializer(serializers.ModelSerializer[Run]):
    class Meta:
        model = Run
        fields = [
            "id",
            "kind",
            "name",
            "snapshot",
            "status",
            "cycles",
            "bound",
            "pending",
            "last_seq",
            "trace_hash",
            "seed",
            "engine_version",
            "not_modelled",
            "out_of_tree_plugins",
            "stop_reason",
            "error",
            "created_at",
            "started_at",
            "finished_at",
        ]


class RunCreatedSerializer(RunSerializer):
    warnings = serializers.ListField(
        child=serializers.DictField(),
        help_text="What will go wrong, and where: `field`, `path`, `line`, `message`.",
    )

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "warnings"]


class ShareSerializer(serializers.Serializer[object]):
    token = serializers.CharField()
    url = serializers.URLField(help_text="Opens the run for whoever has it.")


class RunFileSerializer(serializers.Serializer[Run]):
    file = serializers.FileField()


class CycleSerializer(serializers.ModelSerializer[Cycle]):
    cycle = serializers.IntegerField(source="number")

    class Meta:
        model = Cycle
        fields = [
            "cycle",
            "seq",
            "now_ns",
            "pod",
            "attempt",
            "result",
            "node",
            "nominated_node",
            "message",
            "n_nodes",
            "n_examined",
            "n_feasible",
            "n_tied",
            "n_victims",
            "first_cause",
        ]


class StatusSerializer(serializers.Serializer[object]):
    plugin = serializers.CharField()
    code = serializers.CharField()
    reasons = serializers.ListField(child=serializers.CharField())


class AlsoSerializer(serializers.Serializer[object]):
    cycle = serializers.IntegerField()
    pod = serializers.CharField()
    note = serializers.CharField()
    pre_filter = StatusSerializer(many=True, help_text="Plugins that reject the pod as a whole.")
    also = serializers.DictField(
        child=StatusSerializer(many=True), help_text="By node, in the order of the plugins."
    )


class PreparedSerializer(serializers.Serializer[object]):
    plugin = serializers.CharField()
    skipped = serializers.BooleanField(help_text="Takes no part in what follows.")
    state = serializers.JSONField(help_text="Null if the plugin prepared nothing.")


class StateSerializer(serializers.Serializer[object]):
    cycle = serializers.IntegerField()
    pod = serializers.CharField()
    note = serializers.CharField()
    pre_filter = PreparedSerializer(many=True)
    pre_score = PreparedSerializer(many=True)
