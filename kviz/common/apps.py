from django.apps import AppConfig


class CommonConfig(AppConfig):
    name = "kviz.common"
    label = "common"
