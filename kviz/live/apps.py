from django.apps import AppConfig


class LiveConfig(AppConfig):
    name = "kviz.live"
    label = "live"
