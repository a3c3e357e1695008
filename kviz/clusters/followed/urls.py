from django.urls import path

from kviz.clusters.followed import pages

urlpatterns = [
    path("", pages.followed_list, name="followed-list"),
    path("<uuid:followed_id>", pages.followed_detail, name="followed-detail"),
    path("<uuid:followed_id>/check", pages.followed_check, name="followed-check"),
    path(
        "<uuid:followed_id>/decisions/<int:number>",
        pages.followed_decision,
        name="followed-decision",
    ),
    path("<uuid:followed_id>/open/<int:number>", pages.followed_open, name="followed-open"),
    path("<uuid:followed_id>/resume", pages.followed_resume, name="followed-resume"),
    path("<uuid:followed_id>/stop", pages.followed_stop, name="followed-stop"),
]
