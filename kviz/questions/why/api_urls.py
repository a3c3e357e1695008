from django.urls import path

from kviz.questions.why import api

POD = "runs/<uuid:run_id>/pods/<str:namespace>/<str:name>/why"

urlpatterns = [
    path(f"{POD}/", api.PodWhy.as_view(), name="api-pod-why"),
    path(f"{POD}/markdown/", api.PodMarkdown.as_view(), name="api-pod-markdown"),
]
