from django.apps import AppConfig


class FollowedConfig(AppConfig):
    name = "kviz.clusters.followed"
    label = "followed"
