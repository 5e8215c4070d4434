"""Rules for orders to a model in many languages, built from lexicon.yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import yaml

from ..reading import folded
from .base import COMMAND, DISCLOSURE, OVERRIDE, PERSONA

_SENTENCE_ENDS = re.compile("[.!?…\n。।؟។]+")
_CLAUSE = r"(?:^|[:;,\"'“”„«»‘()\[\]{}<>*#|、،؛–—-])\s*"


@dataclass(frozen=True)
class Order:
    """A rule whose parts must occur in one sentence, in any order. ``needs``: see ``Rule``."""

    kind: str
    needs: tuple[str, ...]
    parts: tuple[str, ...]

    @property
    def pattern(self) -> str:
        """The first part, which identifies the order."""
        return self.parts[0]

    @cached_property
    def _compiled(self) -> list[re.Pattern[str]]:
        return [re.compile(part) for part in self.parts]

    def matches(self, text: str) -> bool:
        """Whether one sentence of a folded text has all parts."""
        return any(
            all(part.search(sentence) for part in self._compiled) for sentence in _SENTENCE_ENDS.split(text) if sentence
        )


@dataclass(frozen=True)
class _Language:
    words: dict[str, list[str]]
    joined: bool
    first: bool
    last: bool
    verb_first: bool

    def orders(self) -> Iterator[Order]:
        if "ignore" in self.words:
            yield self._order(OVERRIDE, "rules", self._setting_aside(), self._any("before"))
        if "user" in self.words:
            yield self._order(COMMAND, "user", self._any("tell"))
        if "must" in self.words:
            model, must = self._any("model"), self._any("must")
            near = rf"{must}.{{0,25}}?{model}" if self.verb_first else rf"{model}.{{0,25}}?{must}"
            yield Order(COMMAND, self._needs("model"), (near,))
        if "now" in self.words:
            yield Order(PERSONA, self._needs("now"), (rf"{_CLAUSE}{self._any('now')}",))
        if "told" in self.words:
            yield Order(OVERRIDE, self._needs("told"), (rf"{_CLAUSE}{self._any('told')}",))
        if "reply" in self.words:
            yield Order(COMMAND, self._needs("reply"), (rf"{_CLAUSE}{self._any('reply')}",))
        if "show" in self.words:
            yield self._order(DISCLOSURE, "prompt", self._any("show"))

    def _order(self, kind: str, needed: str, *parts: str) -> Order:
        return Order(kind, self._needs(needed), (self._any(needed), *parts))

    def _needs(self, name: str) -> tuple[str, ...]:
        """The substrings that a text with one of these words contains; short words are delimited."""
        stems = (max(re.split(r"\*|,? ", word), key=len) for word in self.words[name])
        return tuple(stem if self.joined or len(stem) > 3 else f" {stem} " for stem in stems)

    def _any(self, name: str) -> str:
        words = "|".join(map(_pattern, self.words[name]))
        return f"(?:{words})" if self.joined else rf"(?<!\w)(?:{words})(?!\w)"

    def _setting_aside(self) -> str:
        ignore = self._any("ignore")
        if self.first:
            go = "|".join(map(_pattern, self.words["go"]))
            return rf"{_CLAUSE}(?:(?:{go})[\s,]*){{0,3}}{ignore}"
        return rf"{ignore}(?=\W*(?:$|[,;:]|\w+\W*$))" if self.last else ignore


def _pattern(word: str) -> str:
    """The pattern of words: an asterisk is the rest of a word, or between blanks some words."""
    parts = re.split(r"( \* |\*| )", word)
    spelled = {" * ": r"(?:\s+\S+){0,6}?\s+", "*": r"\w*", " ": r",?\s+"}
    return "".join(spelled.get(part, re.escape(part)) for part in parts)


def _load() -> Iterator[Order]:
    path = Path(__file__).with_name("lexicon.yaml")
    for entry in yaml.safe_load(path.read_text(encoding="utf-8")).values():
        flags = {flag: bool(entry.pop(flag, False)) for flag in ("joined", "first", "last", "verb_first")}
        words = {name: [folded(word.strip()) for word in listed.split(",")] for name, listed in entry.items()}
        yield from _Language(words, **flags).orders()


LEXICON = list(_load())
