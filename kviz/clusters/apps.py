from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "kviz.clusters"
    label = "clusters"
