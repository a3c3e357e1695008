from django.urls import path

from kviz.lessons import api

urlpatterns = [
    path("", api.LessonList.as_view(), name="api-lesson-list"),
    path("<slug:slug>/begin/", api.LessonBegin.as_view(), name="api-lesson-begin"),
    path("<slug:slug>/steps/<int:number>/", api.LessonStep.as_view(), name="api-lesson-step"),
    path(
        "<slug:slug>/steps/<int:number>/answer/",
        api.LessonAnswer.as_view(),
        name="api-lesson-answer",
    ),
    path(
        "<slug:slug>/steps/<int:number>/reveal/",
        api.LessonReveal.as_view(),
        name="api-lesson-reveal",
    ),
    path("<slug:slug>/steps/<int:number>/next/", api.LessonNext.as_view(), name="api-lesson-next"),
    path("<slug:slug>/steps/<int:number>/try/", api.LessonTry.as_view(), name="api-lesson-try"),
]
