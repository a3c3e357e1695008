from django.urls import path

from kviz.by_hand import api

urlpatterns = [path("<uuid:game_id>/", api.Board.as_view(), name="api-by-hand")]
