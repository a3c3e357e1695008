"""Websocket addresses of classes."""

from collections.abc import Callable
from typing import Any, cast

from django.urls import path

from kviz.classroom.sockets import class_socket

CLASSES = [path("ws/class/<str:code>/", cast("Callable[..., Any]", class_socket))]
