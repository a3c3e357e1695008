from django.urls import path
from rest_framework.routers import SimpleRouter

from kviz.extenders import api

router = SimpleRouter(use_regex_path=False)
router.register("sessions", api.SessionViewSet, basename="api-session")

urlpatterns = [
    path("extender/<str:token>/<str:verb>", api.extend, name="api-extender"),
    *router.urls,
]
