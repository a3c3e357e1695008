from django.urls import path

from kviz.questions.capacity import page

urlpatterns = [path("experiments/capacity", page.capacity_new, name="experiment-capacity")]
