from django.urls import path

from kviz.questions.luck import api

urlpatterns = [
    path("runs/<uuid:run_id>/luck/", api.RunLuck.as_view(), name="api-run-luck"),
]
