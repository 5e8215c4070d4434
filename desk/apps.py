"""Registers the room with Django."""

from django.apps import AppConfig


class DeskConfig(AppConfig):
    """The person's side: every server-rendered page."""

    name = "desk"
