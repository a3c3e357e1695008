"""The lesson that `kviz lesson template` prints."""

TEMPLATE = """\
# A lesson of kviz (docs/lessons.md). `kviz lesson check THIS-FILE` runs it.
title: Two nodes, one pod
about: Where does a pod go when only one node has room?
minutes: 5

# A sample that comes with kviz (`sample: size-trap`), or objects as kubectl prints them.
cluster:
  objects: |
    apiVersion: v1
    kind: Node
    metadata: {name: small}
    status: {allocatable: {cpu: "1", memory: 4Gi, pods: "110"}}
    ---
    apiVersion: v1
    kind: Node
    metadata: {name: large}
    status: {allocatable: {cpu: "4", memory: 4Gi, pods: "110"}}
    ---
    apiVersion: v1
    kind: Pod
    metadata: {name: web, namespace: default}
    spec: {containers: [{name: c, resources: {requests: {cpu: "2"}}}]}

# The last cycle that may be known at the beginning; without it everything is shown.
hidden_after: 0

steps:
  - title: The cluster
    # Markdown.
    text: |
      Two nodes wait, and one pod, `default/web`. It requests **2** cores.
    # What the Explorer opens: cycle (0: before the first), point, plugin, pod, node, tab.
    at: {cycle: 0, pod: default/web}
    # For who presents it to a class; others do not see it.
    notes: Let them read the sizes first.

  - title: Predict
    text: Choose the node that you expect to be chosen.
    question:
      ask: On which node will default/web run?
      kind: node            # node, number, choice, order
      answer: large
      # Where the engine says it: `kviz lesson check` compares.
      fact: {cycle: 1, value: node}
      because: |
        Only `large` has 2 cores left, so NodeResourcesFit rejects the other.
    # When it is answered, so much is shown: a cycle, or the end.
    reveal:
      to: end
      at: {cycle: 1, point: Filter, plugin: NodeResourcesFit}

  - title: Try it yourself
    text: Changes are lines, as `kviz simulate --change` takes them.
    task:
      text: Keep default/web from getting a node, with one change of a node.
      goals:                # bound (and on: NODE), pending, evicted, apart (and by: LABEL)
        - {pending: default/web}
      at_most: 1
      of: [node/small, node/large]
      hint: A node can be cordoned.
      solution:
        - node/large cordon
"""
