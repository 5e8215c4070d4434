"""What a message says to the assistant, as it is interpreted without a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Heard:
    """The interpretation of a message without a model; statements are worded for the person.

    ``new``: said in passing; ``noted``: requested or confirmed; ``changed``: (old, new) wordings; ``waiting``: pending
    their approval; ``doubted``: may be outdated; ``told``: about the legacy; ``held``: such that waits, with why.
    ``refused``: they refused something; ``not_found``: nothing was taken away but the refusal itself, which names
    something said before or is ``for_later``; ``along``: more went than they named; ``awaits``: some waits for them,
    since an agent relayed that; ``of_all``: all that is known of them was meant; ``for_later``: it was meant for what
    may be said later; ``in_part``: they agreed to the rest. ``decided``: a doubt about ``noted`` is settled, or what
    happened to it undone, or there is nothing to undo, or it is not for the agent to undo that relays the wish.
    ``stays``: memories that say what they refused, and more. ``elsewhere``: other conversations told it, too, and it
    is gone from them or stays. ``agreed`` to a question. ``about``: whom the talk is
    about, if not the user. ``secret``: kind of a number or code in it, never stored.
    """

    new: tuple[str, ...] = ()
    noted: tuple[str, ...] = ()
    changed: tuple[tuple[str, str], ...] = ()
    waiting: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    held: tuple[tuple[str, str], ...] = ()
    refused: bool = False
    not_found: bool = False
    along: bool = False
    awaits: bool = False
    of_all: bool = False
    for_later: bool = False
    in_part: bool = False
    stays: tuple[str, ...] = ()
    elsewhere: Literal["", "gone", "stays"] = ""
    decided: Literal["", "holds", "away", "undone", "dropped", "given_back", "nothing", "not_yours"] = ""
    agreed: bool = False
    about: str = ""
    secret: str = ""
