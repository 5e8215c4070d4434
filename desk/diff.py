"""Word diffs of wordings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby
from typing import Literal

_WORDS = re.compile(r"\w+(?:['’-]\w+)*|\s+|[^\w\s]")
# Below this similarity two whole sentences are easier to read than a diff.
LEAST_ALIKE = 0.34


@dataclass(frozen=True, slots=True)
class DiffPiece:
    """A piece of text of both wordings, only the old one, or only the new one."""

    kind: Literal["same", "gone", "new"]
    text: str


def word_diff(old: str, new: str) -> list[DiffPiece]:
    """Return the diff from ``old`` to ``new``: pieces in reading order, removed ones before added ones.

    The pieces that are not added join to ``old``, those that are not removed to ``new``. Dissimilar wordings are
    returned as two pieces.
    """
    if old == new:
        return [DiffPiece("same", new)] if new else []
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < LEAST_ALIKE:
        return [piece for piece in (DiffPiece("gone", old), DiffPiece("new", new)) if piece.text]
    pieces: list[DiffPiece] = []
    for tag, i, j, k, m in matcher.get_opcodes():
        gone, came = "".join(before[i:j]), "".join(after[k:m])
        if tag == "equal":
            pieces.append(DiffPiece("same", came))
        else:
            pieces += [piece for piece in (DiffPiece("gone", gone), DiffPiece("new", came)) if piece.text]
    return _tidy(pieces)


def merge_diff(olds: Sequence[str], new: str) -> tuple[list[list[DiffPiece]], list[DiffPiece]]:
    """Return the diff from several wordings to ``new``.

    For each wording its kept and removed pieces; then the pieces of ``new``, kept or added.
    """
    after = _WORDS.findall(new)
    known = [False] * len(after)
    shown = []
    for old in olds:
        before = _WORDS.findall(old)
        kept = [False] * len(before)
        for i, k, length in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
            kept[i : i + length] = known[k : k + length] = [True] * length
        shown.append(_marked(before, kept, "gone"))
    return shown, _marked(after, known, "new")


def _marked(words: Sequence[str], same: Sequence[bool], otherwise: Literal["gone", "new"]) -> list[DiffPiece]:
    """Group words of one kind, with the spaces between them."""
    last = len(words) - 1
    held = [
        same[place] if not word.isspace() or place in {0, last} else same[place - 1] or same[place + 1]
        for place, word in enumerate(words)
    ]
    runs = groupby(zip(held, words, strict=True), key=lambda each: each[0])
    return [DiffPiece("same" if is_same else otherwise, "".join(word for _, word in run)) for is_same, run in runs]


def _tidy(pieces: list[DiffPiece]) -> list[DiffPiece]:
    """Merge changes that are separated by a space only."""
    joined: list[DiffPiece] = []
    for place, piece in enumerate(pieces):
        between = 0 < place < len(pieces) - 1 and pieces[place + 1].kind != "same" and joined[-1].kind != "same"
        parts = (
            [DiffPiece("gone", piece.text), DiffPiece("new", piece.text)]
            if between and piece.text.isspace()
            else [piece]
        )
        joined += parts if piece.kind == "same" else [piece]
    runs: list[DiffPiece] = []
    held: dict[str, str] = {"gone": "", "new": ""}
    for piece in [*joined, DiffPiece("same", "")]:
        if piece.kind != "same":
            held[piece.kind] += piece.text
            continue
        runs += [DiffPiece(kind, held[kind]) for kind in ("gone", "new") if held[kind]]
        held = {"gone": "", "new": ""}
        if piece.text:
            runs.append(piece)
    return runs
