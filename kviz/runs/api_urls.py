from django.urls import path
from rest_framework.routers import SimpleRouter

from kviz.questions.optimum.api import RunOptimum
from kviz.questions.rules.api import RunLuck, RunRules
from kviz.runs.api.check import RunCheck
from kviz.runs.api.cycles import CycleViewSet, PodMarkdown, PodWhy
from kviz.runs.api.links import RunShare
from kviz.runs.api.runs import RunViewSet

router = SimpleRouter(use_regex_path=False)
router.register("", RunViewSet, basename="api-run")
router.register("<uuid:run_id>/cycles", CycleViewSet, basename="api-cycle")

urlpatterns = [
    path("check/", RunCheck.as_view(), name="api-run-check"),
    *router.urls,
    path("<uuid:run_id>/share/", RunShare.as_view(), name="api-run-share"),
    path("<uuid:run_id>/optimum/", RunOptimum.as_view(), name="api-run-optimum"),
    path("<uuid:run_id>/luck/", RunLuck.as_view(), name="api-run-luck"),
    path("<uuid:run_id>/rules/", RunRules.as_view(), name="api-run-rules"),
    path(
        "<uuid:run_id>/pods/<str:namespace>/<str:name>/why/",
        PodWhy.as_view(),
        name="api-pod-why",
    ),
    path(
        "<uuid:run_id>/pods/<str:namespace>/<str:name>/why/markdown/",
        PodMarkdown.as_view(),
        name="api-pod-markdown",
    ),
]
