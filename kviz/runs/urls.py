from django.urls import path

from kviz.runs.pages import (
    controls,
    cycles,
    detail,
    form,
    formal,
    links,
    lists,
    simulator,
    variants,
)

urlpatterns = [
    path("", lists.run_list, name="run-list"),
    path("new", form.run_new, name="run-new"),
    path("open", lists.run_open, name="run-open"),
    path("delete", lists.runs_delete, name="runs-delete"),
    path("links", links.link_list, name="link-list"),
    path("links/revoke", links.links_revoke, name="links-revoke"),
    path("links/<int:link_id>/revoke", links.link_revoke, name="link-revoke"),
    path("beside/<uuid:snapshot_id>", simulator.snapshot_simulator, name="snapshot-simulator"),
    path("<uuid:run_id>", detail.run_detail, name="run-detail"),
    path("<uuid:run_id>/cycles", cycles.run_cycles, name="run-cycles"),
    path("<uuid:run_id>/cycles.csv", cycles.run_cycles_csv, name="run-cycles-csv"),
    path("<uuid:run_id>/pods.csv", cycles.run_pods_csv, name="run-pods-csv"),
    path("<uuid:run_id>/explore", cycles.run_explore, name="run-explore"),
    path("<uuid:run_id>/policies", detail.run_policies, name="run-policies"),
    path("<uuid:run_id>/pause", controls.run_pause, name="run-pause"),
    path("<uuid:run_id>/resume", controls.run_resume, name="run-resume"),
    path("<uuid:run_id>/cancel", controls.run_cancel, name="run-cancel"),
    path("<uuid:run_id>/rename", controls.run_rename, name="run-rename"),
    path("<uuid:run_id>/differently", variants.run_differently, name="run-differently"),
    path("<uuid:run_id>/share", links.run_share, name="run-share"),
    path("<uuid:run_id>/unshare", links.run_unshare, name="run-unshare"),
    path("<uuid:run_id>/delete", controls.run_delete, name="run-delete"),
    path("<uuid:run_id>/cycles/<int:cycle>/model", formal.run_model, name="run-model"),
]
