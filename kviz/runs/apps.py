from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "kviz.runs"
    label = "runs"
