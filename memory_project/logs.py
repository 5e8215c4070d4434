"""Structured logs. Events carry ids and codes; message and fact text never reaches a log."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator, MutableMapping
from types import TracebackType
from typing import Any

import structlog

CUT = " […]"
_LEVELS = {
    # The line of each request says it (middleware.py), with its exception.
    "django.request": "CRITICAL",
    # That a task comes; that it ended, and how, stays.
    "celery.worker.strategy": "WARNING",
    "celery.beat": "WARNING",
    # Its servers are made for one request each.
    "mcp": "WARNING",
}
# How PostgreSQL goes on after the first line of an error, also where the text stands in a repr. The rest may hold a
# whole row, and rows hold whatever people wrote, line ends included: nothing after this is trusted.
_ON_ROWS = re.compile(r"(?:\n|\\n)\s*(?:DETAIL|HINT|QUERY|CONTEXT|LINE \d+):.*", re.DOTALL)


def without_rows(logger: Any, name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Cut what a database error quotes of its rows and statements out of every text of an event."""
    for key, value in event.items():
        if isinstance(value, str | BaseException):
            event[key] = _ON_ROWS.sub(CUT, value if isinstance(value, str) else repr(value))
    return event


def _formatted(exc_info: tuple[type[BaseException], BaseException, TracebackType | None]) -> str:
    """A traceback in which database errors have only their first line, so that what comes after them is still there."""
    text = "".join(traceback.format_exception(*exc_info)).rstrip("\n")
    for error in _chain(exc_info[1]):
        told = str(error)
        if _ON_ROWS.search(told):
            text = text.replace(told, _ON_ROWS.sub(CUT, told))
    return text


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error, and those that it came of."""
    seen: list[BaseException] = []
    before: BaseException | None = error
    while before is not None and before not in seen:
        yield before
        seen.append(before)
        before = before.__cause__ or before.__context__


def logging_config(level: str, *, json_lines: bool) -> dict[str, Any]:
    """Return Django's LOGGING setting and configure structlog to feed it.

    ``json_lines`` writes one JSON object a line for collectors; otherwise lines are for a person at a terminal.
    """
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.ExceptionRenderer(_formatted),
        without_rows,
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    renderer: Any = structlog.processors.JSONRenderer() if json_lines else structlog.dev.ConsoleRenderer(colors=False)
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "structured": {
                "()": structlog.stdlib.ProcessorFormatter,
                "processor": renderer,
                "foreign_pre_chain": shared,
            }
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
        "loggers": {name: {"level": least} for name, least in _LEVELS.items()},
        "root": {"handlers": ["stderr"], "level": level},
    }
