from django.urls import path

from kviz.questions.why import page

POD = "runs/<uuid:run_id>/pods/<str:namespace>/<str:name>/why"

urlpatterns = [
    path(POD, page.run_why, name="run-why"),
    path("runs/<uuid:run_id>/cycles/<int:cycle>/nodes/<str:node>", page.run_node, name="run-node"),
]
