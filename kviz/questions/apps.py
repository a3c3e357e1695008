from django.apps import AppConfig


class QuestionsConfig(AppConfig):
    name = "kviz.questions"
    label = "questions"

    def ready(self) -> None:
        from kviz.questions import modules

        list(modules("registered"))
