from django.urls import path

from kviz.common import pages

urlpatterns = [
    path("plugins/", pages.plugin_list, name="plugin-list"),
    path("plugins/<str:name>", pages.plugin_detail, name="plugin-detail"),
    path("about/fidelity", pages.about_fidelity, name="fidelity"),
]
