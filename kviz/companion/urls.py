from django.urls import path

from kviz.companion import pages

urlpatterns = [
    path("", pages.reading_list, name="reading-list"),
    path("<str:name>", pages.reading_detail, name="reading-detail"),
    path("<str:name>/<int:number>/open", pages.reading_open, name="reading-open"),
]
