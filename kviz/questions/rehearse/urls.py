from django.urls import path

from kviz.questions.rehearse import page

urlpatterns = [
    path("experiments/rehearse", page.rehearse_new, name="experiment-rehearse"),
    path("experiments/<uuid:experiment_id>/both", page.rehearsal_both, name="experiment-both"),
]
