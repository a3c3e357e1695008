from django.urls import path

from kviz.clusters import pages

urlpatterns = [path("", pages.cluster_list, name="cluster-list")]
