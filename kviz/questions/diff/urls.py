from django.urls import path

from kviz.questions.diff import page

urlpatterns = [path("runs/compare", page.run_compare, name="run-compare")]
