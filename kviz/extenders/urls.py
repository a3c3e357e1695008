from django.urls import path

from kviz.extenders import pages

urlpatterns = [
    path("", pages.session_list, name="extender-list"),
    path("<uuid:session_id>", pages.session_detail, name="extender-session"),
    path("<uuid:session_id>/revoke", pages.session_revoke, name="extender-revoke"),
    path("<uuid:session_id>/delete", pages.session_delete, name="extender-delete"),
]
