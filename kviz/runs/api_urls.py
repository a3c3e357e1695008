from django.urls import path

from kviz.runs import api

urlpatterns = [
    path("", api.RunList.as_view(), name="api-run-list"),
    path("file/", api.RunOpen.as_view(), name="api-run-open"),
    path("<uuid:run_id>/", api.RunDetail.as_view(), name="api-run"),
    path("<uuid:run_id>/pause/", api.RunPause.as_view(), name="api-run-pause"),
    path("<uuid:run_id>/resume/", api.RunResume.as_view(), name="api-run-resume"),
    path("<uuid:run_id>/share/", api.RunShare.as_view(), name="api-run-share"),
    path("<uuid:run_id>/cancel/", api.RunCancel.as_view(), name="api-run-cancel"),
    path("<uuid:run_id>/file/", api.RunFile.as_view(), name="api-run-file"),
    path("<uuid:run_id>/page/", api.RunPage.as_view(), name="api-run-page"),
    path("<uuid:run_id>/cycles/", api.CycleList.as_view(), name="api-cycle-list"),
    path("<uuid:run_id>/cycles/<int:cycle>/", api.CycleDetail.as_view(), name="api-cycle"),
    path("<uuid:run_id>/cycles/<int:cycle>/also/", api.CycleAlso.as_view(), name="api-cycle-also"),
    path(
        "<uuid:run_id>/cycles/<int:cycle>/state/",
        api.CycleState.as_view(),
        name="api-cycle-state",
    ),
    path(
        "<uuid:run_id>/cycles/<int:cycle>/detail/",
        api.CycleColumns.as_view(),
        name="api-cycle-detail",
    ),
    path(
        "<uuid:run_id>/pods/<str:namespace>/<str:name>/why/",
        api.PodWhy.as_view(),
        name="api-pod-why",
    ),
]
