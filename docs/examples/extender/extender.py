"""A scheduler extender to start from: plain ASGI, no framework.

    uvicorn extender:app --port 9000 --reload

Edit `filter_node` and `score_node` while you step through a run; `--reload` picks the change up.
With `nodeCacheCapable: true` the scheduler sends node names only, with `false` whole nodes.
"""

import json


def filter_node(pod, node_name, node):
    """Say why the pod must not go to the node, or nothing. `node` is None without its object."""
    wanted = pod["metadata"].get("labels", {}).get("only-on")
    if wanted and not node_name.startswith(wanted):
        return f"pod wants a node whose name starts with {wanted}"
    return None


def score_node(pod, node_name, node):
    """Say from 0 to 10 how well the node suits the pod."""
    return 10 if node_name.endswith("1") else 0


def answer_filter(asked):
    failed = {}
    for name, node in nodes_of(asked):
        reason = filter_node(asked["Pod"], name, node)
        if reason:
            failed[name] = reason
    left = [(name, node) for name, node in nodes_of(asked) if name not in failed]
    answer = {"FailedNodes": failed, "Error": ""}
    if asked["NodeNames"] is None:
        answer["Nodes"] = {"items": [node for _, node in left]}
    else:
        answer["NodeNames"] = [name for name, _ in left]
    return answer


def answer_prioritize(asked):
    return [
        {"Host": name, "Score": score_node(asked["Pod"], name, node)}
        for name, node in nodes_of(asked)
    ]


def answer_preempt(asked):
    """Agree to every candidate, or drop some: keep what you return."""
    meta = asked["NodeNameToMetaVictims"]
    if meta is None:
        meta = {
            name: {
                "Pods": [{"UID": pod["metadata"]["uid"]} for pod in victims["Pods"]],
                "NumPDBViolations": victims["NumPDBViolations"],
            }
            for name, victims in asked["NodeNameToVictims"].items()
        }
    return {"NodeNameToMetaVictims": meta}


def nodes_of(asked):
    if asked["NodeNames"] is not None:
        return [(name, None) for name in asked["NodeNames"]]
    return [(node["metadata"]["name"], node) for node in asked["Nodes"]["items"]]


VERBS = {
    "/filter": answer_filter,
    "/prioritize": answer_prioritize,
    "/preempt": answer_preempt,
}


async def app(scope, receive, send):
    """Read a request, answer it as JSON. Only 200 counts for the scheduler."""
    if scope["type"] != "http":
        return
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    verb = VERBS.get(scope["path"])
    status = 200 if verb else 404
    answer = json.dumps(verb(json.loads(body))).encode() if verb else b""
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(b"content-type", b"application/json")],
        }
    )
    await send({"type": "http.response.body", "body": answer})
