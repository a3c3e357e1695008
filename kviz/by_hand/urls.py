from django.urls import path

from kviz.by_hand import pages

urlpatterns = [
    path("", pages.game_list, name="by-hand"),
    path("snapshot/<uuid:snapshot_id>", pages.game_of_snapshot, name="by-hand-snapshot"),
    path("run/<uuid:run_id>", pages.game_of_run, name="by-hand-run"),
    path("<uuid:game_id>", pages.game_detail, name="by-hand-game"),
]
