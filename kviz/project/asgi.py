"""The ASGI application: HTTP through Django, websockets through channels."""

import gc
import os
import sys
from typing import cast

from channels.routing import ProtocolTypeRouter
from django.conf import settings
from django.core.asgi import get_asgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kviz.project.settings")
django_application = get_asgi_application()

from kviz.classroom.routing import CLASSES  # noqa: E402  (needs Django set up)
from kviz.common import tracing  # noqa: E402
from kviz.live import advances  # noqa: E402
from kviz.live.origin import Application  # noqa: E402
from kviz.live.routing import RUNS, websockets  # noqa: E402
from kviz.project.body_limit import BodyLimit  # noqa: E402
from kviz.project.extender_deadline import ExtenderDeadline  # noqa: E402
from kviz.project.health import HealthChecks  # noqa: E402
from kviz.project.metrics import Metrics  # noqa: E402
from kviz.project.postgresql import share_connections  # noqa: E402
from kviz.project.strict_headers import StrictHeaders  # noqa: E402
from kviz.project.struct_types import complete_struct_types  # noqa: E402
from kviz.runs.signals import run_advanced  # noqa: E402
from scheduler_core.api.gc_freeze import freeze  # noqa: E402

answered = ExtenderDeadline(cast("Application", django_application), settings.EXTENDER_DEADLINE_S)
application = ProtocolTypeRouter(
    {
        "http": StrictHeaders(
            HealthChecks(Metrics(BodyLimit(answered, settings.MAX_UPLOAD_BYTES)))
        ),
        "websocket": websockets([*RUNS, *CLASSES]),
    }
)

share_connections()
run_advanced.connect(advances.deliver)
if settings.OTEL_ENDPOINT:
    tracing.start(settings.OTEL_ENDPOINT, service="kviz-web")

# Load every view now, and have the garbage collector pass over all that is loaded: looking through
# it takes a tenth of a second, in which a scheduler that asks its extender would wait.
_ = get_resolver().url_patterns
complete_struct_types()
gc.collect()
freeze()

# Every write to a socket lets go of the interpreter, and a thread that makes a page would have it
# for 5 ms each time: with hundreds of viewers they would be seconds late.
sys.setswitchinterval(0.0005)
