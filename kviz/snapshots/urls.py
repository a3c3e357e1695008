from django.urls import path

from kviz.snapshots import pages

urlpatterns = [
    path("", pages.snapshot_list, name="snapshot-list"),
    path("delete", pages.snapshots_delete, name="snapshots-delete"),
    path("new", pages.snapshot_new, name="snapshot-new"),
    path("<uuid:snapshot_id>", pages.snapshot_detail, name="snapshot-detail"),
    path("<uuid:snapshot_id>/delete", pages.snapshot_delete, name="snapshot-delete"),
]
