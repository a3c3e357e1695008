from django.urls import path

from kviz.experiments import pages

urlpatterns = [
    path("", pages.experiment_list, name="experiment-list"),
    path("new", pages.experiment_new, name="experiment-new"),
    path("<uuid:experiment_id>", pages.experiment_detail, name="experiment-detail"),
    path("<uuid:experiment_id>/cancel", pages.experiment_cancel, name="experiment-cancel"),
    path("<uuid:experiment_id>/delete", pages.experiment_delete, name="experiment-delete"),
]
