"""Starts Celery tasks by name once the transaction has committed."""

from __future__ import annotations

from collections.abc import Callable

import structlog
from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError as BrokerError

log = structlog.get_logger(__name__)


def enqueue(task: str, *ids: object, otherwise: Callable[[], None] | None = None) -> None:
    """Start a task by name once the current transaction has committed.

    If the broker can't be reached, that is logged and ignored: a periodic task finds the task's row again. For work
    without such a row, ``otherwise`` is called in this process. Arguments are ids only.
    """
    arguments = [str(value) for value in ids]

    def send() -> None:
        try:
            current_app.send_task(task, args=arguments, retry=False, ignore_result=True)
        except (BrokerError, OSError) as error:
            log.warning("task_not_queued", task=task, error=type(error).__name__)
            if otherwise is not None:
                otherwise()

    transaction.on_commit(send, robust=True)
