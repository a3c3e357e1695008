"""The values behind verdicts and scores, as REST tells them."""

from __future__ import annotations

from rest_framework import serializers

from kviz.runs.api.serializers import OfCycleSerializer, StatusSerializer


class RequirementSerializer(serializers.Serializer[object]):
    kind = serializers.CharField(help_text="Which values there are: see docs/evidence.md.")
    met = serializers.BooleanField()
    asks = serializers.CharField(help_text="What the pod asks.")
    has = serializers.CharField(help_text="What the node has.")
    sentence = serializers.CharField(help_text="Both, as a predicate of the pod.")
    detail = serializers.CharField(help_text="What the sentence says beyond both sides.")
    asks_parts = serializers.ListField(
        child=serializers.ListField(), help_text="Pieces of `asks`: text, and whether it differs."
    )
    has_parts = serializers.ListField(child=serializers.ListField(), help_text="The same of `has`.")
    values = serializers.DictField()


class PluginEvidenceSerializer(serializers.Serializer[object]):
    plugin = serializers.CharField()
    point = serializers.CharField()
    code = serializers.CharField()
    reasons = serializers.ListField(child=serializers.CharField())
    sentence = serializers.CharField(help_text="What is not met; empty for Success.")
    with_nominated = serializers.ListField(
        child=serializers.CharField(), help_text="Pods nominated to the node, counted as there."
    )
    requirements = RequirementSerializer(many=True)


class ScoreEvidenceSerializer(serializers.Serializer[object]):
    plugin = serializers.CharField()
    kind = serializers.CharField()
    formula = serializers.CharField()
    text = serializers.CharField(help_text="The formula with this node's numbers.")
    raw = serializers.IntegerField()
    values = serializers.DictField()
    normalized = serializers.IntegerField()
    normalized_by = serializers.CharField()
    normalized_text = serializers.CharField()
    lowest = serializers.IntegerField()
    highest = serializers.IntegerField()
    weight = serializers.IntegerField()
    weighted = serializers.IntegerField()


class LeadSerializer(serializers.Serializer[object]):
    text = serializers.CharField(help_text="The sentence with the node it is about.")
    plugin = serializers.CharField()
    sentence = serializers.CharField(help_text="A predicate of the pod.")
    node = serializers.CharField(help_text="Empty if it is about the pod itself.")
    which = serializers.CharField(help_text="Which of all nodes that is.")
    also = serializers.ListField(
        child=serializers.CharField(), help_text="Other plugins' sentences about that node."
    )
    elsewhere = serializers.ListField(
        child=serializers.CharField(), help_text="What keeps the pod from other near misses."
    )


class SentenceSerializer(serializers.Serializer[object]):
    plugin = serializers.CharField()
    sentence = serializers.CharField()


class NearestSerializer(serializers.Serializer[object]):
    node = serializers.CharField()
    sentences = SentenceSerializer(many=True)


class BugSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    upstream = serializers.CharField(help_text="As in #141339, empty where none is known.")
    sentence = serializers.CharField()


class NodeGroupSerializer(serializers.Serializer[object]):
    plugin = serializers.CharField(help_text="The first that rejects the nodes.")
    reasons = serializers.ListField(child=serializers.CharField())
    nodes = serializers.ListField(child=serializers.CharField(), help_text="At most 40 of them.")
    n_nodes = serializers.IntegerField()
    sentence = serializers.CharField(help_text="With values; a predicate of the pod.")
    is_example = serializers.BooleanField(help_text="Whether that is of the first node only.")
    also = serializers.ListField(
        child=serializers.CharField(), help_text="Of a node that is alone: of other plugins."
    )


class PodEvidenceSerializer(OfCycleSerializer):
    lead = LeadSerializer(allow_null=True, help_text="Null where the pod found a node.")
    bugs = BugSerializer(many=True, help_text="The scheduler's own that decide about the pod.")
    requests = serializers.ListField(child=serializers.DictField())
    rejections = PluginEvidenceSerializer(many=True, help_text="Of the pod as a whole.")
    groups = NodeGroupSerializer(many=True, help_text="The rejected nodes that say the same.")
    nearest = NearestSerializer(many=True, help_text="The nearest misses, all plugins about each.")
    ineligible_to_preempt = serializers.CharField()


class OneNodeSerializer(serializers.Serializer[object]):
    node = serializers.CharField()
    sentence = serializers.CharField(help_text="Of the first plugin that rejects the node.")
    rejected_by = serializers.ListField(child=serializers.CharField())
    plugins = PluginEvidenceSerializer(many=True)
    preemption = serializers.DictField(allow_null=True)
    scores = ScoreEvidenceSerializer(many=True)
    total = serializers.IntegerField(allow_null=True)
    total_text = serializers.CharField()


class RequirementPairSerializer(serializers.Serializer[object]):
    plugin = serializers.CharField()
    kind = serializers.CharField()
    asks = serializers.CharField()
    met = serializers.ListField(child=serializers.BooleanField(allow_null=True))
    has = serializers.ListField(child=serializers.CharField(allow_null=True))
    sentences = serializers.ListField(child=serializers.CharField(allow_null=True))


class ScorePairSerializer(serializers.Serializer[object]):
    plugin = serializers.CharField()
    formula = serializers.CharField()
    texts = serializers.ListField(child=serializers.CharField())
    raw = serializers.ListField(child=serializers.IntegerField())
    normalized = serializers.ListField(child=serializers.IntegerField())
    weight = serializers.IntegerField()
    weighted = serializers.ListField(child=serializers.IntegerField())
    difference = serializers.IntegerField(help_text="How much more the first node gets.")
    decides = serializers.BooleanField(
        help_text="Whether the node ahead would not be ahead without this plugin."
    )


class ComparisonSerializer(serializers.Serializer[object]):
    nodes = serializers.ListField(child=serializers.CharField())
    rejected_by = serializers.ListField(child=serializers.ListField())
    sentence = serializers.CharField(help_text="What sets the two apart.")
    requirements = RequirementPairSerializer(many=True, help_text="Those not met first.")
    scores = ScorePairSerializer(many=True, help_text="Empty unless both were scored.")
    totals = serializers.ListField(child=serializers.IntegerField(), allow_null=True)
    difference = serializers.IntegerField(allow_null=True)
    deciders = serializers.ListField(child=serializers.CharField())


class NodeEvidenceSerializer(OfCycleSerializer):
    pod_node = serializers.CharField(help_text="Where the pod went, empty if nowhere.")
    examined = serializers.BooleanField()
    feasible = serializers.BooleanField()
    recorded = StatusSerializer(allow_null=True)
    requests = serializers.ListField(
        child=serializers.DictField(), help_text="How the pod's requests come about."
    )
    pod_rejections = PluginEvidenceSerializer(many=True)
    evidence = OneNodeSerializer()
    comparison = ComparisonSerializer(allow_null=True, help_text="With the node `against`.")
