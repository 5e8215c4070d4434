"""The Celery application. Tasks are thin and take ids only; the durable rows they start from are in the database."""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_project.settings")

from celery import Celery
from celery.signals import worker_init

app = Celery("keepsake")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def _preload(**_: Any) -> None:
    """Load the embedder's model once, before the worker's processes part."""
    from language.backends import preload_embedder  # noqa: PLC0415

    preload_embedder()
