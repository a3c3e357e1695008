from django.urls import path

from kviz.questions.rules import api

urlpatterns = [
    path("runs/<uuid:run_id>/rules/", api.RunRules.as_view(), name="api-run-rules"),
    path(
        "snapshots/<uuid:snapshot_id>/check/",
        api.SnapshotCheck.as_view(),
        name="api-snapshot-rules",
    ),
]
