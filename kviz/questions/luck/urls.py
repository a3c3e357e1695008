from django.urls import path

from kviz.questions.luck import page

urlpatterns = [path("runs/<uuid:run_id>/luck", page.run_luck, name="run-luck")]
