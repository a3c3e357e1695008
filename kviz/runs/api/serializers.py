"""REST: the documents of runs and cycles."""

from __future__ import annotations

from typing import get_args
from uuid import UUID

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from kviz.common.fields import DocumentField
from kviz.runs.api.release_field import ReleaseField
from kviz.runs.models import Cycle, Run
from kviz.runs.selectors import sentence_of
from scheduler_core.devices.survey import DeviceOutcome
from scheduler_core.releases.table import TieBreak
from scheduler_core.trace.records import QueueOrder


class ChangeField(serializers.JSONField):
    """A change as its document, or in one line (docs/changes.md)."""


class RunInputsSerializer(serializers.Serializer[Run]):
    snapshot = serializers.UUIDField(
        required=False, help_text="Required, unless there is a parent: then it is the parent's."
    )
    changes = serializers.ListField(
        child=ChangeField(),
        required=False,
        help_text="What is different: documents, or lines such as `node/n1 cordon` "
        "(docs/changes.md).",
    )
    scheduler_config = DocumentField(
        help_text="A KubeSchedulerConfiguration. Without it a sample cluster has its own, any "
        "other the default profile."
    )
    scenario = DocumentField(
        help_text="What happens meanwhile (docs/scenarios.md). Without it a sample cluster has its "
        "own, in any other nothing happens."
    )
    seed = serializers.IntegerField(
        required=False,
        min_value=-(2**63),
        max_value=2**63 - 1,
        help_text="Used only when ties are broken randomly: with tie_break draw, and among nodes "
        "with equal totals that an extender has scored.",
    )
    release = ReleaseField(
        required=False,
        help_text="The Kubernetes release whose scheduler is followed; 1.36 and 1.37 are their "
        "newest patches. auto (the default): what the API server said, else the newest kubelet, "
        "else the newest that kviz knows.",
    )
    feature_gates = serializers.DictField(
        child=serializers.BooleanField(),
        required=False,
        help_text="Gates to switch, by name (docs/configuration.md); they go before those of the "
        "scenario.",
    )
    tie_break = serializers.ChoiceField(
        choices=get_args(TieBreak),
        required=False,
        help_text="Which of several best nodes is taken: the root of the heap, as every release "
        "since v1.36 does, or one that is drawn. Default: as the release.",
    )
    queue_order = serializers.ChoiceField(
        choices=get_args(QueueOrder),
        required=False,
        help_text="In which order pending pods of equal priority enter the queue: as listed, by "
        "namespace and name, or by age.",
    )


class RunCreateSerializer(RunInputsSerializer):
    parent = serializers.UUIDField(  # type: ignore[assignment]  # a field of the document
        required=False,
        help_text="The run that this one is a variant of. It has all inputs of its parent; what "
        "else is different is said by changes.",
    )
    cycle = serializers.IntegerField(
        required=False,
        min_value=0,
        help_text="With a parent: the cycle that begins when the changes have been made, so that "
        "all before it is as in the parent. 0: the run begins with them.",
    )


class RunChangeSerializer(serializers.Serializer[object]):
    cycle = serializers.IntegerField(help_text="0: the run begins with it.")
    change = serializers.DictField(help_text="docs/changes.md")
    sentence = serializers.SerializerMethodField()

    def get_sentence(self, change: dict[str, object]) -> str:
        return sentence_of(change)


NOT_TOLD = "null where a real scheduler does not tell its extender."


class OlderSerializer(serializers.Serializer[Run]):
    state = serializers.ChoiceField(
        choices=Run.Older.choices,
        source="older",
        help_text="Whether it has been computed again. Until then, and where it is kept or this "
        "kviz decides otherwise, its sentences are English.",
    )
    again = serializers.SerializerMethodField(
        help_text="The run that has what this kviz decides, if that is otherwise."
    )
    because = serializers.CharField(source="kept_because", help_text="Why it is kept, if tried.")

    def get_again(self, run: Run) -> UUID | None:
        if run.older != Run.Older.DECIDES_OTHERWISE:
            return None
        return Run.objects.filter(again_of=run).values_list("pk", flat=True).first()


class RunSerializer(serializers.ModelSerializer[Run]):
    changes = RunChangeSerializer(
        many=True, read_only=True, help_text="Those of the parent first, `n_inherited` of them."
    )
    bound = serializers.IntegerField(source="bound_told", allow_null=True, help_text=NOT_TOLD)
    pending = serializers.IntegerField(source="pending_told", allow_null=True, help_text=NOT_TOLD)
    calls_missed = serializers.IntegerField(
        read_only=True,
        help_text="Of an observed run: calls of the scheduler that could not be recorded.",
    )
    release_text = serializers.CharField(
        help_text="The release, and what it was chosen by: `1.37.2 (nodes say v1.37.1)`."
    )
    stop_reason = serializers.SerializerMethodField()
    not_modelled = serializers.SerializerMethodField()
    error = serializers.SerializerMethodField()
    made_by_older = serializers.SerializerMethodField(
        help_text="What became of a run made before kviz stored sentences by their ids; else null."
    )

    @extend_schema_field(OlderSerializer(allow_null=True))
    def get_made_by_older(self, run: Run) -> dict[str, object] | None:
        return OlderSerializer(run).data if run.older else None

    def get_stop_reason(self, run: Run) -> str:
        return run.stop_reason

    def get_not_modelled(self, run: Run) -> list[str]:
        found: list[str] = run.not_modelled
        return found

    def get_error(self, run: Run) -> str:
        return run.error

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
            "calls_missed",
            "last_seq",
            "trace_hash",
            "seed",
            "release",
            "release_text",
            "feature_gates",
            "tie_break",
            "queue_order",
            "parent",
            "forked_at",
            "n_inherited",
            "changes",
            "engine_version",
            "made_by_older",
            "again_of",
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


class OfCycleSerializer(serializers.Serializer[object]):
    """What each answer about one cycle of a run begins with."""

    cycle = serializers.IntegerField()
    pod = serializers.CharField()
    release_text = serializers.CharField(
        help_text="The release that the run follows, and what it was chosen by."
    )


class AlsoSerializer(OfCycleSerializer):
    note = serializers.CharField()
    pre_filter = StatusSerializer(many=True, help_text="Plugins that reject the pod as a whole.")
    also = serializers.DictField(
        child=StatusSerializer(many=True), help_text="By node, in the order of the plugins."
    )


class PreviewSerializer(serializers.Serializer[object]):
    changes = serializers.ListField(
        child=serializers.JSONField(), help_text="Documents or lines, carried out in order."
    )


class LabInputsSerializer(OfCycleSerializer):
    pod = serializers.DictField(  # type: ignore[assignment]
        help_text="The pod when the cycle began, as kubectl prints it."
    )
    scoring = serializers.DictField(
        allow_null=True, help_text="The scoring strategy of its profile, as a change writes it."
    )


class HolderSerializer(serializers.Serializer[object]):
    claim = serializers.CharField()
    pods = serializers.ListField(child=serializers.CharField())
    pending = serializers.BooleanField(help_text="Reserved, not yet written into the claim.")
    admin_access = serializers.BooleanField()
    consumed = serializers.DictField(child=serializers.CharField(), help_text="Of a shared device.")


class DeviceSerializer(serializers.Serializer[object]):
    device = serializers.CharField()
    driver = serializers.CharField()
    pool = serializers.CharField()
    slice = serializers.CharField()
    attributes = serializers.DictField(child=serializers.CharField())
    capacity = serializers.DictField(child=serializers.CharField())
    taints = serializers.ListField(child=serializers.CharField())
    shareable = serializers.BooleanField()
    held_by = HolderSerializer(many=True)


class DeviceAnswerSerializer(serializers.Serializer[object]):
    claim = serializers.CharField()
    request = serializers.CharField()
    outcome = serializers.ChoiceField([each.value for each in DeviceOutcome])
    text = serializers.CharField()
    expression = serializers.CharField(help_text="The selector that is false or ends in an error.")
    values = serializers.DictField(
        child=serializers.CharField(allow_null=True),
        help_text="What the device has for what the expression mentions.",
    )


class DeviceOnNodeSerializer(serializers.Serializer[object]):
    id = serializers.CharField(help_text="driver/pool/device: its key in `devices`.")
    answers = DeviceAnswerSerializer(many=True)


class NodeDevicesSerializer(serializers.Serializer[object]):
    node = serializers.CharField()
    rejection = serializers.CharField(help_text="What DynamicResources says of the node.")
    pools = serializers.ListField(
        child=serializers.CharField(), help_text="Pools that give no devices, and why."
    )
    devices = DeviceOnNodeSerializer(many=True)


class DeviceRequestSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    device_class = serializers.CharField()
    count = serializers.IntegerField(help_text="0: all devices that match.")
    selectors = serializers.ListField(child=serializers.CharField())
    class_selectors = serializers.ListField(child=serializers.CharField())
    tolerations = serializers.ListField(child=serializers.CharField())
    capacity = serializers.DictField(child=serializers.CharField())
    admin_access = serializers.BooleanField()


class DeviceClaimSerializer(serializers.Serializer[object]):
    claim = serializers.CharField()
    requests = DeviceRequestSerializer(many=True)
    constraints = serializers.ListField(child=serializers.CharField())
    devices = serializers.ListField(
        child=serializers.CharField(), help_text="Those it has had before this cycle."
    )
    usable_on = serializers.CharField(help_text="Where it can use those; empty: everywhere.")


class DevicesSerializer(OfCycleSerializer):
    note = serializers.CharField()
    problem = serializers.CharField(help_text="Why no node was looked at for the claims.")
    claims = DeviceClaimSerializer(many=True)
    devices = serializers.DictField(child=DeviceSerializer())
    nodes = NodeDevicesSerializer(many=True)
    n_nodes = serializers.IntegerField(help_text="Nodes with devices, of which some are listed.")


class PreparedSerializer(serializers.Serializer[object]):
    plugin = serializers.CharField()
    skipped = serializers.BooleanField(help_text="Takes no part in what follows.")
    state = serializers.JSONField(help_text="Null if the plugin prepared nothing.")


class StateSerializer(OfCycleSerializer):
    note = serializers.CharField()
    pre_filter = PreparedSerializer(many=True)
    pre_score = PreparedSerializer(many=True)
