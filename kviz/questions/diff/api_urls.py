from django.urls import path

from kviz.questions.diff import api

urlpatterns = [
    path(
        "runs/<uuid:run_id>/compare/<uuid:other_id>/",
        api.RunCompare.as_view(),
        name="api-run-compare",
    ),
]
