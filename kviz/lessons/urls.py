from django.urls import path

from kviz.lessons import course_pages, homework_pages, pages

urlpatterns = [
    path("", pages.lesson_list, name="lesson-list"),
    path("record", course_pages.learning_record, name="learning-record"),
    path("homework/<uuid:homework_id>", homework_pages.homework_detail, name="homework"),
    path(
        "homework/<uuid:homework_id>/delete", homework_pages.homework_delete, name="homework-delete"
    ),
    path("homework/<str:code>/", homework_pages.homework_door, name="homework-door"),
    path("homework/<str:code>/begin", homework_pages.homework_begin, name="homework-begin"),
    path("<slug:slug>/homework", homework_pages.homework_give, name="homework-give"),
    path("<slug:slug>/hand-in", homework_pages.homework_hand_in, name="homework-hand-in"),
    path("<slug:slug>", pages.lesson_detail, name="lesson-detail"),
    path("<slug:slug>/done", course_pages.lesson_done, name="lesson-done"),
    path("<slug:slug>/handout", course_pages.lesson_handout, name="lesson-handout"),
    path("<slug:slug>/begin", pages.lesson_begin, name="lesson-begin"),
    path("<slug:slug>/<int:number>", pages.lesson_step, name="lesson-step"),
    path("<slug:slug>/<int:number>/answer", pages.lesson_answer, name="lesson-answer"),
    path("<slug:slug>/<int:number>/reveal", pages.lesson_reveal, name="lesson-reveal"),
    path("<slug:slug>/<int:number>/next", pages.lesson_next, name="lesson-next"),
    path("<slug:slug>/<int:number>/try", pages.lesson_try, name="lesson-try"),
]
