"""Two or more sentences said as one: "Sam likes tea." and "Sam likes hiking." as "Sam likes tea and hiking."."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from language.offline.compare import sense_of
from language.offline.lexicon import verbs
from language.offline.lexicon.words import (
    ADVERBS,
    NUMBERS,
    PREPOSITIONS,
    SUBJECT_PRONOUNS,
    listed,
)
from language.offline.rewrite import MAX_CONTENT

# Said of two things together, each of these is said of either: who likes tea and hiking likes tea.
_SAID_OF_EACH = (
    "likes", "loves", "enjoys", "adores", "hates", "dislikes", "speaks", "plays", "collects", "owns",
    "liked", "loved", "enjoyed", "adored", "hated", "disliked", "spoke", "played", "collected", "owned",
    "is allergic to", "is afraid of", "is scared of", "is interested in", "is fond of", "is keen on", "is learning",
)  # fmt: skip
_DENIED_OF_EACH = ("does not like", "does not eat", "does not drink", "does not speak", "does not own", "did not like")
_SENTENCE = re.compile(
    r"(?P<who>[^\W\d_][\w'’ -]{0,80}?) "
    rf"(?P<verb>{'|'.join((*_SAID_OF_EACH, *_DENIED_OF_EACH))}) "
    r"(?P<what>[^\W\d_][\w'’ -]{0,80})\."
)
_MOST_WHO = 5
_MOST_WHAT = 4
# In what is liked, these would make it unclear how far the rest of the sentence goes.
_NOT_WHO = (
    PREPOSITIONS | ADVERBS | SUBJECT_PRONOUNS | listed("if when while because and or who which that but nor than")
)
_NOT_WHAT = (
    (PREPOSITIONS - {"out"})
    | ADVERBS
    | NUMBERS
    | SUBJECT_PRONOUNS
    | listed(
        """and or but nor not no never without if when while because who which that than to his her hers him its their
        theirs them this these those both either neither other others another same more most less least too
        anymore any some each every himself herself themselves itself""",
    )
)


@dataclass(frozen=True, slots=True)
class Parts:
    """A sentence that can be joined with others of the same ``who`` and ``verb``."""

    who: str
    verb: str
    what: str


def in_one_sentence(contents: Sequence[str]) -> str | None:
    """Say sentences about one person in one of at most 280 characters, or None where that needs any judgement."""
    read = [parts_of(content) for content in contents]
    parts = [one for one in read if one is not None]
    if len(parts) < len(contents) or len({(one.who, one.verb) for one in parts}) != 1:
        return None
    return joined_parts(parts)


def joined_parts(parts: Sequence[Parts]) -> str | None:
    """Join what is said of one person with one verb, or None if it is one thing only or the sentence gets too long."""
    # Short ones first: in "green tea and coffee" the coffee might be green as well.
    things = sorted(dict.fromkeys(one.what for one in parts), key=lambda what: len(what.split()))
    if len(things) < 2:
        return None
    link = "or" if parts[0].verb in _DENIED_OF_EACH else "and"
    joined = f"{parts[0].who} {parts[0].verb} {', '.join(things[:-1])} {link} {things[-1]}."
    return joined if len(joined) <= MAX_CONTENT else None


def parts_of(content: str) -> Parts | None:
    """Read a sentence that says one thing of one person, or return None."""
    read = _SENTENCE.fullmatch(content)
    if read is None:
        return None
    who, verb, what = read["who"], read["verb"], read["what"]
    plain = (
        len(who.split()) <= _MOST_WHO
        and who[:1].isupper()
        and _NOT_WHO.isdisjoint(who.lower().split())
        and len(what.split()) <= _MOST_WHAT
        and all(_may_be_joined(word) for word in what.lower().replace("’", "'").split())
        and sense_of(content).denied == (verb in _DENIED_OF_EACH)
    )
    return Parts(who, verb, what) if plain else None


def _may_be_joined(word: str) -> bool:
    """Whether a word in what is liked can stand in a list: no figure, and no verb but one that names a pastime."""
    if word in _NOT_WHAT or not word.replace("-", "").replace("'", "").isalpha():
        return False
    form = verbs.verb_form(word)
    return form is None or "ing" in form.kinds or not form.kinds & {"past", "part", "s"} or word.endswith("s")
