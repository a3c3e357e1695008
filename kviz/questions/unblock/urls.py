from django.urls import path

from kviz.questions.unblock import page

urlpatterns = [path("experiments/unblock", page.unblock_begin, name="experiment-unblock")]
