from django.urls import path

from kviz.questions.optimum import page

OPTIMUM = "runs/<uuid:run_id>/optimum"

urlpatterns = [
    path(OPTIMUM, page.run_optimum, name="run-optimum"),
    path(f"{OPTIMUM}/ask", page.run_optimum_ask, name="run-optimum-ask"),
    path(f"{OPTIMUM}/cancel", page.run_optimum_cancel, name="run-optimum-cancel"),
]
