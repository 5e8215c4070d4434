"""The Celery application. Tasks are thin and take ids only; the durable rows they start from are in the database."""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_project.settings")

from celery import Celery, Task
from celery.signals import task_postrun, worker_init

from accounts.scope import working_for


class ScopedTask(Task):
    """A task that works for the whole deployment until an action enters the scope of a person."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it in a scope of its own."""
        with working_for(None, self.name):
            return super().__call__(*args, **kwargs)


app = Celery("keepsake", task_cls=ScopedTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def _preload(**_: Any) -> None:
    """Load the models once, before the worker's processes part."""
    from memory_project.preloading import preload  # noqa: PLC0415

    preload()


@task_postrun.connect
def _beat(**_: Any) -> None:
    """Let staff see that a worker is there."""
    from .pulse import note_work  # noqa: PLC0415

    note_work()
