"""Kubernetes objects as frozen typed values, and how to read them.

``from scheduler_core.api import Pod, Node`` gives the types; quantities, selectors, parsing and
reading of whole uploads are modules of this package.
"""

from scheduler_core.api.types import *  # noqa: F403
from scheduler_core.api.types import __all__ as __all__
