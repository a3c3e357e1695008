from django.urls import path

from kviz.questions.nodes import page

urlpatterns = [path("experiments/nodes", page.nodes_new, name="experiment-nodes")]
