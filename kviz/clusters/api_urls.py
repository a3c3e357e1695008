from django.urls import path

from kviz.clusters import api

urlpatterns = [
    path("", api.Clusters.as_view(), name="api-cluster-list"),
    path("imports/", api.Imports.as_view(), name="api-cluster-import"),
]
