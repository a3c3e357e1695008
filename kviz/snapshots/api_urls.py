from django.urls import path

from kviz.snapshots import api

urlpatterns = [
    path("snapshots/", api.SnapshotList.as_view(), name="api-snapshot-list"),
    path("snapshots/<uuid:snapshot_id>/", api.SnapshotDetail.as_view(), name="api-snapshot"),
    path("uploads/<uuid:upload_id>/", api.UploadProgress.as_view(), name="api-upload-progress"),
]
