import io

import pytest
from django.core.management.base import OutputWrapper

from journal import progress
from journal.progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def passes(monkeypatch):
    """``passes(seconds)`` lets the clock go on."""
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])

    def go_on(seconds):
        clock[0] += seconds

    return go_on


def test_a_terminal_shows_a_bar_and_what_is_left(passes):
    screen = Terminal()
    with Progress("Moving", 40, OutputWrapper(screen)) as shown:
        passes(30)
        shown.advance(10)
        passes(0.01)
        shown.advance(10)  # Too soon to be drawn.
        passes(30)
        shown.advance(20)
    drawn = screen.getvalue().split("\r")
    assert drawn[1] == f"Moving [{'.' * 30}] 0 of 40, 0 s {progress.CLEAR}"
    assert drawn[2] == f"Moving [########{'.' * 22}] 10 of 40, 30 s, about 90 s left {progress.CLEAR}"
    assert drawn[3] == f"Moving [{'#' * 30}] 40 of 40, 60 s {progress.CLEAR}"
    assert drawn[-1].endswith("\n")
    assert len(drawn) == 5


@pytest.mark.parametrize(
    ("seconds", "told"), [(9, "about 81 s left"), (60, "about 9 min left"), (1_200, "about 3.0 h left")]
)
def test_a_log_gets_a_line_now_and_then(passes, seconds, told):
    out = io.StringIO()
    with Progress("Moving", 100, OutputWrapper(out)) as shown:
        passes(seconds)
        shown.advance(10)
        shown.advance(1)
    first, last = out.getvalue().splitlines()
    assert first.startswith("Moving: 10 of 100, ")
    assert first.endswith(told)
    assert last.startswith("Moving: 11 of 100, ")


def test_nothing_to_do_is_done():
    out = io.StringIO()
    with Progress("Moving", 0, OutputWrapper(out)):
        pass
    assert out.getvalue() == "Moving: 0 of 0, 0 s\n"
