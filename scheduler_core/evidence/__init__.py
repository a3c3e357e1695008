"""The values behind a verdict or a score, computed on demand.

A plugin's verdict is a code and a text. Here every plugin of the tree has a function that reads
what the plugin prepared and the columns it looked at, and says line by line what the pod asks and
what the node has (`Requirement`), or how a raw score comes about (`RawScore`). A requirement that
is not met is the evidence of a rejection: there is one exactly when the plugin rejects.

`cycle.CycleEvidence` answers for one cycle, about the pod and about any node.
"""
