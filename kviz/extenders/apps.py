from django.apps import AppConfig


class ExtendersConfig(AppConfig):
    name = "kviz.extenders"
    label = "extenders"

    def ready(self) -> None:
        """Let cycles be re-enacted with what extenders answered."""
        from kviz.extenders.answers import OnlyKeptAnswers
        from kviz.runs import inputs

        inputs.kept_answers = OnlyKeptAnswers
