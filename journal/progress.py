"""Progress display of long commands: a bar on a terminal, otherwise a line every few seconds."""

from __future__ import annotations

import time

from django.core.management.base import OutputWrapper

BAR_CELLS = 30
BAR_SECONDS = 0.1
LINE_SECONDS = 5.0
CLEAR = "\x1b[K"
"""Clears the rest of the line, where a longer bar was drawn before."""


class Progress:
    """Counts towards ``total`` and shows the progress on a command's ``stderr``. Use it as a context manager."""

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
        """Add ``count`` to what is done."""
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
        # The command's default style would colour it red as an error, and add a line break.
        self._stderr.write(text, style_func=str, ending="")
        self._stderr.flush()


def _rounded(seconds: float) -> str:
    """Format a duration with a fitting unit."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6_000 else f"{seconds / 3_600:.1f} h"
