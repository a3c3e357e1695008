from django.apps import AppConfig


class SnapshotsConfig(AppConfig):
    name = "kviz.snapshots"
    label = "snapshots"
