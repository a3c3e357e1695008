from django.apps import AppConfig


class ExperimentsConfig(AppConfig):
    name = "kviz.experiments"
    label = "experiments"
