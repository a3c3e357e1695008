from django.urls import path

from kviz.questions.optimum import api

OPTIMUM = "runs/<uuid:run_id>/optimum"

urlpatterns = [path(f"{OPTIMUM}/", api.RunOptimum.as_view(), name="api-run-optimum")]
