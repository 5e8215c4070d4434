"""The rules of the prompt-injection gate: one per idea, by language where needed.

Patterns are in lower case without accents, like the texts they are matched with. ``needs`` are substrings, one of which
a text must contain for the pattern to be tried; they only keep the gate fast.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from django.utils.translation import gettext_noop

from ..reading import folded

OVERRIDE = gettext_noop("tells a model to set its instructions aside")
PERSONA = gettext_noop("gives a model another role")
MARKER = gettext_noop("holds the markers of a chat, a prompt or a tool call")
COMMAND = gettext_noop("tells an assistant what to do or to say")
DISCLOSURE = gettext_noop("asks a model for its instructions or for what it knows")
EXFILTRATION = gettext_noop("would have a model send or load something over the network")
HIDDEN = gettext_noop("holds text that a reader does not see")


def _folded_pattern(pattern: str) -> str:
    """Fold a pattern like texts, except its escapes, where case matters."""
    return re.sub(r"\\.|[^\\]+", lambda part: part[0] if part[0][0] == "\\" else folded(part[0]), pattern)


@dataclass(frozen=True)
class Rule:
    """A pattern for one idea. ``after``: pattern that the text before a match must not end with."""

    kind: str
    needs: tuple[str, ...]
    pattern: str
    after: str = ""

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(_folded_pattern(self.pattern))

    @cached_property
    def _before(self) -> re.Pattern[str] | None:
        return re.compile(rf"(?:{_folded_pattern(self.after)})$") if self.after else None

    def matches(self, text: str) -> bool:
        """Whether a folded text that contains one of ``needs`` matches."""
        return any(
            self._before is None or self._before.search(text[max(0, match.start() - 40) : match.start()]) is None
            for match in self._compiled.finditer(text)
        )


def any_of(listed: str) -> tuple[str, ...]:
    """Split a string of required substrings at its bars."""
    return tuple(listed.split("|"))


# The start of a command: of the text, after punctuation, or after a word that introduces one.
GO = (
    r"(?:^|[.!?:;,>\-–—(\[{\"'“”„«»‘’*#|\n]\s*|\b(?:please|kindly|now|and|then|so|also|just|bitte|nun|jetzt|und|dann"
    r"|s'il (?:te|vous) plait|"
    r"maintenant|et|puis|por favor|ahora|y|agora|e|per favore|ora|poi|alsjeblieft|nu|en|пожалуиста|теперь|и|prosze"
    r"|teraz|i|lutfen|simdi) )"
)
