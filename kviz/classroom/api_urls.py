from django.urls import path

from kviz.classroom import api, pages

urlpatterns = [
    path("<uuid:room_id>/answers.csv", pages.class_answers, name="class-answers"),
    path("<str:code>/answer/", api.ClassAnswer.as_view(), name="api-class-answer"),
    path("<str:code>/board/", api.ClassBoard.as_view(), name="api-class-board"),
    path("<str:code>/propose/", api.ClassProposal.as_view(), name="api-class-propose"),
    path("<str:code>/control/", api.ClassControl.as_view(), name="api-class-control"),
]
