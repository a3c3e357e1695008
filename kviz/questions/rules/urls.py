from django.urls import path

from kviz.questions.rules import page

urlpatterns = [path("runs/<uuid:run_id>/rules", page.run_rules, name="run-rules")]
