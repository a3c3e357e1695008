from django.apps import AppConfig


class ExtendersConfig(AppConfig):
    name = "kviz.extenders"
    label = "extenders"
