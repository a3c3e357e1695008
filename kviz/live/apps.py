from django.apps import AppConfig


class LiveConfig(AppConfig):
    name = "kviz.live"
    label = "live"

    def ready(self) -> None:
        from kviz.experiments.services import luck_begin
        from kviz.runs.models import Run
        from kviz.runs.signals import run_finished

        def begin(run: Run, **_: object) -> None:
            luck_begin(run=run)

        run_finished.connect(begin, weak=False)
