from django.apps import AppConfig


class ReferenceConfig(AppConfig):
    name = "kviz.reference"
    label = "reference"
