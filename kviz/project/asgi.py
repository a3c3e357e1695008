"""The ASGI application: HTTP through Django, websockets through channels."""

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kviz.project.settings")
django_application = get_asgi_application()

application = ProtocolTypeRouter({"http": django_application})
