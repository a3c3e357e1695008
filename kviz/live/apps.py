from django.apps import AppConfig


class LiveConfig(AppConfig):
    name = "kviz.live"
    label = "live"

    def ready(self) -> None:
        """Have viewers told of what a real scheduler tells, too."""
        from kviz.extenders.notebook import notebook
        from kviz.live import hints

        notebook.advanced = hints.send_beside
