from django.urls import path

from kviz.extenders import api

urlpatterns = [path("<str:token>/<str:verb>", api.extend, name="api-extender")]
