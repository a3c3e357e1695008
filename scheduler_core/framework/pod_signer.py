"""Asks the plugins of a profile for a pod's signature.

Upstream: v1.36 pkg/scheduler/framework/runtime/framework.go (computeBatchablePlugins, SignPod).
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.interface import Plugin, SignPlugin, implements
from scheduler_core.framework.plugin_calls import call
from scheduler_core.framework.signatures import PodSignature, scheduler_name


class PodSigner:
    """Signs pods with what `plugins` look at, each template once."""

    def __init__(self, plugins: Sequence[Plugin]) -> None:
        by_name = {plugin.name: plugin for plugin in plugins}
        signers = [plugin for plugin in by_name.values() if implements(plugin, SignPlugin)]
        self._signers = signers if len(signers) == len(by_name) else None
        self._signatures: dict[int, PodSignature | None] = {}

    def sign(self, pod: PodInfo) -> PodSignature | None:
        """Return the pod's signature, None if some plugin cannot sign it.

        Pods with equal signatures get equal verdicts and scores from nodes in the same state.
        """
        index = pod.template.index
        if index not in self._signatures:
            self._signatures[index] = self._sign(pod)
        return self._signatures[index]

    def _sign(self, pod: PodInfo) -> PodSignature | None:
        if self._signers is None:
            return None
        fragments = [scheduler_name(pod.pod.spec)]
        for plugin in self._signers:
            signed = call("SignPod", plugin.name, pod, plugin.sign_pod, pod)
            if signed is None:
                return None
            fragments.extend(signed)
        return frozenset((fragment.key, fragment.value) for fragment in fragments)
