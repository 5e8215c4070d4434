"""The Celery application. Tasks take ids only; their state is in database rows."""

import os
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memory_project.settings")

from celery import Celery, Task
from celery.signals import task_postrun, worker_init

from accounts.scope import working_for


class ScopedTask(Task):
    """A task whose access scope is the whole deployment until an action enters a person's scope."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the task in a new scope."""
        with working_for(None, self.name):
            return super().__call__(*args, **kwargs)


app = Celery("keepsake", task_cls=ScopedTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_init.connect
def _preload(**_: Any) -> None:
    """Load the models once, before the worker forks."""
    from memory_project.preloading import preload  # noqa: PLC0415

    preload()


@task_postrun.connect
def _beat(**_: Any) -> None:
    """Record that a worker is alive, for the dashboard."""
    from .pulse import note_work  # noqa: PLC0415

    note_work()
