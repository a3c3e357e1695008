from django.apps import AppConfig


class ClassroomConfig(AppConfig):
    name = "kviz.classroom"
    label = "classroom"
