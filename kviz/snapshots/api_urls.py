from django.urls import path
from rest_framework.routers import SimpleRouter

from kviz.snapshots import api

router = SimpleRouter(use_regex_path=False)
router.register("snapshots", api.SnapshotViewSet, basename="api-snapshot")

urlpatterns = [
    path("snapshots/check/", api.SnapshotCheck.as_view(), name="api-snapshot-check"),
    *router.urls,
    path("uploads/<uuid:upload_id>/", api.UploadProgress.as_view(), name="api-upload-progress"),
]
