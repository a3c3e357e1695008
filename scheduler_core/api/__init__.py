"""Kubernetes objects as frozen typed values, and how to read them.

``from scheduler_core.api import Pod, Node`` gives the types. Modules beside them:
``quantity`` (amounts), ``timestamps``, ``selectors`` (labels, node selectors, tolerations),
``parse`` (one object), ``ingest`` (whole uploads), ``packing`` (storage), ``priority``
(priority classes), ``cluster_objects`` (a set of objects by kind), ``errors``.
"""

from scheduler_core.api.types import *  # noqa: F403
