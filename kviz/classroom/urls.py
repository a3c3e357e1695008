from django.urls import path

from kviz.classroom import pages

urlpatterns = [
    path("", pages.class_door, name="class-door"),
    path("open/", pages.class_home, name="class-home"),
    path("open/lesson/<slug:slug>", pages.class_open_lesson, name="class-open-lesson"),
    path("open/run/<uuid:run_id>", pages.class_open_run, name="class-open-run"),
    path("open/by-hand/<uuid:game_id>", pages.class_open_game, name="class-open-game"),
    path("take/<uuid:room_id>", pages.class_take, name="class-take"),
    path("idle/end", pages.class_end_idle, name="class-end-idle"),
    path("join", pages.class_find, name="class-find"),
    path("<str:code>/", pages.class_room, name="class-room"),
    path("<str:code>/join", pages.class_join, name="class-join"),
    path("<str:code>/lead", pages.class_lead, name="class-lead"),
    path("<str:code>/screen", pages.class_screen, name="class-screen"),
    path("<str:code>/end", pages.class_end, name="class-end"),
]
