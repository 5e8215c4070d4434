"""Score the gates on held-out texts: ``python -m benchmarks.gating`` needs no database.

``python -m benchmarks.gating --consent consent.tsv --orders orders.txt --ordinary ordinary.txt --paraphrases
paraphrases.tsv``. Each text is judged as if an agent had written it. ``--show`` prints the wrong verdicts. Each line of
the first file is "wait" or "free" and a statement; each line of the last is "same" or "differ", a rejected statement,
and a later statement of an agent.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks import set_up_without_servers
from language.embedders.e5.embedder import BundledEmbedder

FIELDS = ("preferred_name", "pronouns", "city", "language")
DOCUMENTS = {
    "alone": lambda said: said,
    "in JSON": lambda said: json.dumps({"content": said, "id": 7}),
    "in notes": lambda said: f"# Notes\n\n- Likes tea\n- {said}\n- Uses Vim\n",
}
"""The kinds of verbatim texts that an agent stores."""


def consent(rows: Sequence[list[str]], *, show: bool) -> None:
    """Print how many statements are recognised as a name, pronouns, city or language, and how many wait for review."""
    from memories.policy.fields import field_of
    from statements.wording import Embedded

    found = {"wait": 0, "free": 0}
    waiting = dict(found)
    for (wanted, content), text in zip(rows, Embedded.of_each([row[1] for row in rows]), strict=True):
        field = field_of(content, meaning=text.meaning)
        found[wanted] += field in FIELDS
        waiting[wanted] += bool(field or text.review_reason)
        if show and (field in FIELDS) != (wanted == "wait"):
            print(f"  {wanted:5} {field or '-':15} {content}")
    for wanted, count in found.items():
        number = sum(row[0] == wanted for row in rows)
        print(f"consent, {wanted}: {_of(count, number)} given a field, {_of(waiting[wanted], number)} wait")


def stopped(name: str, texts: Sequence[str], *, show: bool) -> None:
    """Print how many texts do not become active as a statement, and as a verbatim document."""
    from language import gates
    from statements.policy import reason_to_hold_back
    from statements.wording import Embedded

    read = Embedded.of_each(texts)
    found = [
        each.review_reason or reason_to_hold_back(each.content) or str(gates.find_sensitive(each.content) or "")
        for each in read
    ]
    print(f"{name}: {_of(sum(map(bool, found)), len(texts))} wait or are refused")
    if show:
        for text, why in zip(texts, found, strict=True):
            if bool(why) != (name == "orders"):
                print(f"  {why[:40] or '-':40} {text}")
    for form, written in DOCUMENTS.items():
        documents = [written(text) for text in texts]
        held = [Embedded.of(each, verbatim=True).review_reason or bool(_held(each)) for each in documents]
        print(f"{name}, a document {form}: {_of(sum(map(bool, held)), len(texts))} wait or are refused")


def _held(text: str) -> str:
    from journal.exceptions import Gated
    from statements.policy import admit

    try:
        return admit(text, own_word=False, longest=4_000, verbatim=True).held_back
    except Gated as error:
        return str(error.code)


def paraphrases(rows: Sequence[list[str]], *, show: bool) -> None:
    """Print how many statements wait because of a rejected one, before and after its text is purged."""
    from language.likeness import likeness
    from statements.policy.resembling import LEAST_SIMILARITY, matching
    from statements.wording import Embedded

    first, second = (Embedded.of_each([row[at] for row in rows]) for at in (1, 2))
    for known in (True, False):
        found = {"same": 0, "differ": 0}
        for (wanted, *_), old, new in zip(rows, first, second, strict=True):
            assert old.vector is not None
            assert new.vector is not None
            near = float(old.vector @ new.vector)
            stood = old.content if known else None
            alike = likeness(new.vector, old.vector)
            waits = near >= LEAST_SIMILARITY and bool(matching(new.saying, stood, near, alike))
            found[wanted] += waits
            if show and known and waits != (wanted == "same"):
                print(f"  {wanted:6} {near:.3f} {likeness(new.vector, old.vector):.2f} {old.content} | {new.content}")
        for wanted, count in found.items():
            number = sum(row[0] == wanted for row in rows)
            print(f"paraphrases, {wanted}, {'with the text' if known else 'without'}: {_of(count, number)} wait")


def _of(count: int, number: int) -> str:
    return f"{count} of {number} ({100 * count / number:.1f} %)" if number else "none"


def _lines(path: Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def main() -> None:
    """Score the files given on the command line."""
    set_up_without_servers()
    from language.backends import embedder_replaced

    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("consent", "orders", "ordinary", "paraphrases"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    with embedder_replaced(BundledEmbedder()):
        for name in ("orders", "ordinary"):
            if path := getattr(given, name):
                stopped(name, _lines(path), show=given.show)
        for name, score in (("consent", consent), ("paraphrases", paraphrases)):
            if path := getattr(given, name):
                score([line.split("\t") for line in _lines(path)], show=given.show)


if __name__ == "__main__":
    main()
