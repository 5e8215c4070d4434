"""Progress of a long command, for a person who watches: a bar on a terminal, now and then a line in a log."""

from __future__ import annotations

import time

from django.core.management.base import OutputWrapper

BAR_CELLS = 30
BAR_SECONDS = 0.1
LINE_SECONDS = 5.0
CLEAR = "\x1b[K"
"""Takes away what a longer bar has left on the line."""


class Progress:
    """Counts towards ``total`` and shows how far it is, on a command's ``stderr``. Use it as a context manager.

    What it shows is a bar drawn over itself when that is a terminal, else a line every few seconds.
    """

    def __init__(self, label: str, total: int, stderr: OutputWrapper) -> None:
        self.label = label
        self.total = total
        self.done = 0
        self._stderr = stderr
        self._terminal = stderr.isatty()
        self._started = self._shown = time.monotonic()

    def __enter__(self) -> Progress:
        if self._terminal:
            self._show()
        return self

    def __exit__(self, *exception: object) -> None:
        self._show()
        if self._terminal:
            self._write("\n")

    def advance(self, count: int = 1) -> None:
        """Note that ``count`` more are done."""
        self.done += count
        pause = BAR_SECONDS if self._terminal else LINE_SECONDS
        if time.monotonic() - self._shown >= pause:
            self._show()

    def _show(self) -> None:
        self._shown = time.monotonic()
        seconds = self._shown - self._started
        share = min(1.0, self.done / self.total) if self.total else 1.0
        figures = f"{self.done:,} of {self.total:,}, {seconds:.0f} s"
        if 0 < self.done < self.total:
            figures += f", about {_rounded(seconds / self.done * (self.total - self.done))} left"
        if self._terminal:
            filled = round(share * BAR_CELLS)
            self._write(f"\r{self.label} [{'#' * filled}{'.' * (BAR_CELLS - filled)}] {figures} {CLEAR}")
        else:
            self._write(f"{self.label}: {figures}\n")

    def _write(self, text: str) -> None:
        # A bar is neither an error, in red, nor a line.
        self._stderr.write(text, style_func=str, ending="")
        self._stderr.flush()


def _rounded(seconds: float) -> str:
    """A duration as one says it."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3_600:.1f} h"
