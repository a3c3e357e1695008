from django.apps import AppConfig


class LessonsConfig(AppConfig):
    name = "kviz.lessons"
    label = "lessons"
