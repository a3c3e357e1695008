"""What makes a scheduler call kviz: the configuration that a session prints."""

from __future__ import annotations

from typing import Final

from django.urls import reverse

from kviz.extenders.models import ExtenderSession

CONFIGURATION: Final = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
clientConnection:
  # With --config the scheduler no longer looks at --kubeconfig.
  # kubeadm's file; with a pod's service account leave it out.
  kubeconfig: /etc/kubernetes/scheduler.conf
extenders:
- urlPrefix: {url}
  filterVerb: filter
  prioritizeVerb: prioritize
  preemptVerb: preempt
  weight: 1
  nodeCacheCapable: true
  ignorable: true
  httpTimeout: 200ms
"""


def configuration_for(url: str) -> str:
    """Return the configuration for the address of a session."""
    return CONFIGURATION.format(url=url)


def path_of(session: ExtenderSession) -> str:
    """Return where a session is called, without the verb: a secret."""
    return reverse("api-extender", args=[session.token, "filter"]).rpartition("/")[0]
