from django.apps import AppConfig


class ByHandConfig(AppConfig):
    name = "kviz.by_hand"
    label = "by_hand"
