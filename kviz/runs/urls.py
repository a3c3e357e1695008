from django.urls import path

from kviz.runs import compare_pages, pages, why_pages

urlpatterns = [
    path("", pages.run_list, name="run-list"),
    path("new", pages.run_new, name="run-new"),
    path("compare", compare_pages.run_compare, name="run-compare"),
    path("open", pages.run_open, name="run-open"),
    path("<uuid:run_id>", pages.run_detail, name="run-detail"),
    path("<uuid:run_id>/cycles", pages.run_cycles, name="run-cycles"),
    path("<uuid:run_id>/cycles.csv", pages.run_cycles_csv, name="run-cycles-csv"),
    path("<uuid:run_id>/pods.csv", pages.run_pods_csv, name="run-pods-csv"),
    path("<uuid:run_id>/explore", pages.run_explore, name="run-explore"),
    path("<uuid:run_id>/policies", pages.run_policies, name="run-policies"),
    path("<uuid:run_id>/pause", pages.run_pause, name="run-pause"),
    path("<uuid:run_id>/resume", pages.run_resume, name="run-resume"),
    path("<uuid:run_id>/cancel", pages.run_cancel, name="run-cancel"),
    path("<uuid:run_id>/rename", pages.run_rename, name="run-rename"),
    path("<uuid:run_id>/differently", pages.run_differently, name="run-differently"),
    path("<uuid:run_id>/share", pages.run_share, name="run-share"),
    path("<uuid:run_id>/delete", pages.run_delete, name="run-delete"),
    path("<uuid:run_id>/cycles/<int:cycle>/nodes/<str:node>", why_pages.run_node, name="run-node"),
    path("<uuid:run_id>/pods/<str:namespace>/<str:name>/why", why_pages.run_why, name="run-why"),
]
