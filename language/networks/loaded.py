"""A network that is loaded on first use."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Generic, TypeVar

import structlog

from language.base import LanguageError
from language.networks.turns import loading

_TRY_AGAIN_SECONDS = 30
"""Pause after a failed load, which can take seconds and blocks all callers."""

log = structlog.get_logger(__name__)

Network = TypeVar("Network")


class LoadedOnce(Generic[Network]):
    """Calls ``load`` once; processes forked afterwards share what it returned. Thread-safe.

    ``what`` names it in errors and in the log: "bundled embedder". ``failure`` is raised if it can't be loaded.
    """

    def __init__(self, what: str, load: Callable[[], Network], failure: type[LanguageError]) -> None:
        self._what = what
        self._load = load
        self._failure = failure
        self._network: Network | None = None
        self._failed = ""
        self._failed_at = 0.0

    def get(self) -> Network:
        """Return the network. Raises ``failure``."""
        if self._network is None:
            with loading():
                if self._network is None:
                    self._network = self._try()
        return self._network

    def _try(self) -> Network:
        if self._failed and time.monotonic() < self._failed_at + _TRY_AGAIN_SECONDS:
            raise self._failure(self._failed)
        try:
            return self._load()
        except Exception as error:  # The runtime's errors have no class in common.
            self._failed = f"The {self._what} can't be loaded: {error}"
            self._failed_at = time.monotonic()
            log.warning("network_not_loaded", network=self._what, error=self._failed)
            raise self._failure(self._failed) from error
