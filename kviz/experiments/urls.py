from django.urls import path

from kviz.experiments.pages import experiments

urlpatterns = [
    path("", experiments.experiment_list, name="experiment-list"),
    path("delete", experiments.experiments_delete, name="experiments-delete"),
    path("new", experiments.experiment_new, name="experiment-new"),
    path("<uuid:experiment_id>", experiments.experiment_detail, name="experiment-detail"),
    path("<uuid:experiment_id>/cancel", experiments.experiment_cancel, name="experiment-cancel"),
    path("<uuid:experiment_id>/run", experiments.experiment_run, name="experiment-run"),
    path("<uuid:experiment_id>/delete", experiments.experiment_delete, name="experiment-delete"),
]
