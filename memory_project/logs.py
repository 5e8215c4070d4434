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
    # The request line logs errors with their exception (middleware.py).
    "django.request": "CRITICAL",
    # Drops the line for a received task; the one for its end is kept.
    "celery.worker.strategy": "WARNING",
    "celery.beat": "WARNING",
    # It creates a server per request and would log each.
    "mcp": "WARNING",
}
# The continuation of a PostgreSQL error after its first line, also within a repr. It may quote a whole row with private
# text and line ends, so everything after this is cut.
_ON_ROWS = re.compile(r"(?:\n|\\n)\s*(?:DETAIL|HINT|QUERY|CONTEXT|LINE \d+):.*", re.DOTALL)


def cut_database_rows(logger: Any, name: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Cut rows and statements that database errors quote from every text of an event (structlog processor)."""
    for key, value in event.items():
        if isinstance(value, str | BaseException):
            event[key] = _ON_ROWS.sub(CUT, value if isinstance(value, str) else repr(value))
    return event


def _formatted(exc_info: tuple[type[BaseException], BaseException, TracebackType | None]) -> str:
    """Format a traceback with only the first line of each database error; the lines after an error are kept."""
    text = "".join(traceback.format_exception(*exc_info)).rstrip("\n")
    for error in _chain(exc_info[1]):
        told = str(error)
        if _ON_ROWS.search(told):
            text = text.replace(told, _ON_ROWS.sub(CUT, told))
    return text


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes."""
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
        cut_database_rows,
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
