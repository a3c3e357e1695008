from django.urls import path
from django.views.decorators.http import require_POST
from django.views.i18n import set_language

from kviz.reference import pages

urlpatterns = [
    path("language", require_POST(set_language), name="set-language"),
    path("plugins/", pages.plugin_list, name="plugin-list"),
    path("plugins/<str:name>", pages.plugin_detail, name="plugin-detail"),
    path("glossary/", pages.glossary_page, name="glossary"),
    path("then-and-now/", pages.then_and_now_page, name="then-and-now"),
    path("then-and-now/words.json", pages.old_words, name="old-words"),
    path("then-and-now/classic", pages.classic_switch, name="classic-switch"),
    path("docs/", pages.document_list, name="document-list"),
    path("docs/img/<str:name>", pages.document_image, name="document-image"),
    path("docs/<path:name>", pages.document_page, name="document"),
    path("about/fidelity", pages.about_fidelity, name="fidelity"),
]
