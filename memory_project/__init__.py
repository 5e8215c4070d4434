"""Wiring: settings, URLs, the Celery app, health, the embedded servers."""

from .celery import app as celery_app

__all__ = ["celery_app"]
