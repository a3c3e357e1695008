"""Addresses: pages of every app, and the REST interface below /api/v1/."""

from django.urls import include, path
from drf_spectacular.views import SpectacularAPIView

from kviz.reference.pages import rest_page
from kviz.runs.api.links import ShareLinkDetail, ShareLinks
from kviz.snapshots import pages as snapshot_pages

urlpatterns = [
    path("", snapshot_pages.home, name="home"),
    path("teach", snapshot_pages.teach, name="teach"),
    path("", include("kviz.reference.urls")),
    path("account/", include("kviz.accounts.urls")),
    path("snapshots/", include("kviz.snapshots.urls")),
    path("", include("kviz.questions.urls")),
    path("runs/", include("kviz.runs.urls")),
    path("learn/read/", include("kviz.companion.urls")),
    path("learn/", include("kviz.lessons.urls")),
    path("class/", include("kviz.classroom.urls")),
    path("by-hand/", include("kviz.by_hand.urls")),
    path("experiments/", include("kviz.experiments.urls")),
    path("extender/", include("kviz.extenders.urls")),
    path("clusters/", include("kviz.clusters.urls")),
    path("follow/", include("kviz.clusters.followed.urls")),
    path("api/v1/", include("kviz.snapshots.api_urls")),
    path("api/v1/", include("kviz.questions.api_urls")),
    path("api/v1/runs/", include("kviz.runs.api_urls")),
    path("api/v1/share-links/", ShareLinks.as_view(), name="api-link-list"),
    path("api/v1/share-links/<int:link_id>/", ShareLinkDetail.as_view(), name="api-link-detail"),
    path("api/v1/experiments/", include("kviz.experiments.api_urls")),
    path("api/v1/lessons/", include("kviz.lessons.api_urls")),
    path("api/v1/classes/", include("kviz.classroom.api_urls")),
    path("api/v1/by-hand/", include("kviz.by_hand.api_urls")),
    path("api/v1/", include("kviz.extenders.api_urls")),
    path("api/v1/clusters/", include("kviz.clusters.api_urls")),
    path("api/v1/", include("kviz.clusters.followed.api_urls")),
    path("api/v1/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/v1/docs/", rest_page, name="rest"),
]

handler400 = "kviz.common.problems.bad_request"
handler403 = "kviz.common.problems.permission_denied"
handler404 = "kviz.common.problems.page_not_found"
handler500 = "kviz.common.problems.server_error"
