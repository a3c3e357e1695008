from django.urls import path
from rest_framework.routers import SimpleRouter

from kviz.runs.api.check import RunCheck
from kviz.runs.api.cycles import CycleViewSet
from kviz.runs.api.links import RunShare
from kviz.runs.api.runs import RunViewSet

router = SimpleRouter(use_regex_path=False)
router.register("", RunViewSet, basename="api-run")
router.register("<uuid:run_id>/cycles", CycleViewSet, basename="api-cycle")

urlpatterns = [
    path("check/", RunCheck.as_view(), name="api-run-check"),
    *router.urls,
    path("<uuid:run_id>/share/", RunShare.as_view(), name="api-run-share"),
]
