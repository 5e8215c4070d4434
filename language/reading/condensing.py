"""Merge known memories into fewer, by their claims. Unclear cases are left alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from language.base import KnownMemory
from language.consolidating import Condensed

from .compare import Saying, compare
from .gate import MOST_CHARACTERS
from .kinds import DEFAULT_IMPORTANCE
from .parse import Parsed, Word, parse
from .words import listed

_FIGURE = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_DISTRIBUTIVE_VERBS = listed("like love enjoy adore hate dislike speak play collect own eat drink learn")
"""Distributive verbs: who likes tea and hiking likes tea."""
_DISTRIBUTIVE_STATES = listed("allergic afraid scared interested fond keen")
_NON_DISTRIBUTIVE = listed("other others another same more most less least too any some each every both all it")
"""Words that would make the scope of a merged object unclear."""
_MOST_WORDS = 4


def condense(memories: Sequence[KnownMemory]) -> tuple[Condensed, ...]:
    """Merge memories of one category, subject and field where that needs no judgement.

    Equal statements become the fullest wording, if it has all figures and names of the others. Remaining ones without a
    field and with the same predicate become one sentence. Incompatible ones are left alone.
    """
    alike: dict[tuple[str, str, str], list[KnownMemory]] = {}
    for memory in memories:
        alike.setdefault((memory.category, memory.subject.casefold(), memory.field), []).append(memory)
    return tuple(condensed for group in alike.values() for condensed in _of_one_subject(group))


def _of_one_subject(memories: Sequence[KnownMemory]) -> Iterable[Condensed]:
    sayings = {memory.id: Saying(memory.content) for memory in memories}
    verdicts = {
        (one.id, other.id): compare(sayings[one.id], sayings[other.id]) for one, other in combinations(memories, 2)
    }
    disputed = {each for pair, verdict in verdicts.items() if verdict in {"contradicts", "replaces"} for each in pair}
    groups: list[list[KnownMemory]] = []
    for memory in (each for each in memories if each.id not in disputed):
        for group in groups:
            if all(verdicts[other.id, memory.id] == "same" for other in group):
                group.append(memory)
                break
        else:
            groups.append([memory])
    left: list[KnownMemory] = []
    for group in groups:
        fullest = _fullest(group)
        if fullest is None:
            left += group if len(group) == 1 else []
        else:
            yield _condensed(fullest.content, group)
    if left and not left[0].field:
        yield from _joined(left)


def _fullest(group: Sequence[KnownMemory]) -> KnownMemory | None:
    """The longest wording, the newest on a tie; None if another has a figure or name that it lacks."""
    fullest = max(group, key=lambda memory: (len(memory.content.split()), memory.date, memory.id))
    if len(group) < 2 or len(fullest.content) > MOST_CHARACTERS:
        return None
    telling = _figures_and_names(fullest)
    return fullest if all(_figures_and_names(memory) <= telling for memory in group) else None


def _figures_and_names(memory: KnownMemory) -> set[str]:
    """Figures and names."""
    words = _WORD.findall(memory.content)
    names = {word for place, word in enumerate(words) if word[0].isupper() and place}
    return set(_FIGURE.findall(memory.content)) | names


def _condensed(content: str, group: Sequence[KnownMemory]) -> Condensed:
    return Condensed(
        content, group[0].category, group[0].subject, DEFAULT_IMPORTANCE, tuple(memory.id for memory in group)
    )


# --- In one sentence --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Part:
    """A sentence that can be joined with others of the same opening: "Sam likes"."""

    opening: str
    object_text: str
    is_negated: bool


def join_sentences(contents: Sequence[str]) -> str | None:
    """Join sentences about one person into one of at most 280 characters; None if that needs judgement."""
    parts = [part for part in map(_part_of, contents) if part is not None]
    return _join_objects(parts) if len(parts) == len(contents) and len({part.opening for part in parts}) == 1 else None


def _joined(memories: Sequence[KnownMemory]) -> Iterable[Condensed]:
    """Join as many memories into each sentence as fit, in the given order."""
    alike: dict[str, list[tuple[KnownMemory, _Part]]] = {}
    for memory in memories:
        part = _part_of(memory.content)
        if part is not None:
            alike.setdefault(part.opening, []).append((memory, part))
    for told in alike.values():
        group: list[tuple[KnownMemory, _Part]] = []
        for one in [*told, None]:
            if group and (one is None or _join_objects([part for _, part in (*group, one)]) is None):
                content = _join_objects([part for _, part in group])
                if content is not None:
                    yield _condensed(content, [memory for memory, _ in group])
                group = []
            group += [one] if one is not None else []


def _join_objects(parts: Sequence[_Part]) -> str | None:
    """Join objects of one predicate; None if there is only one, or the sentence gets too long."""
    # Short ones first: "green tea and coffee" is ambiguous.
    things = sorted(dict.fromkeys(part.object_text for part in parts), key=lambda what: len(what.split()))
    link = "or" if parts[0].is_negated else "and"
    joined = f"{parts[0].opening} {', '.join(things[:-1])} {link} {things[-1]}."
    return joined if len(things) > 1 and len(joined) <= MOST_CHARACTERS else None


def _part_of(content: str) -> _Part | None:
    """Split a simple sentence into opening and object; None if it is not simple."""
    parsed = parse(content)
    if parsed is None or len(parsed.sentences) != 1 or not content.endswith("."):
        return None
    root = parsed.root
    if root is None or any(word.text in ',;:()"“”<>[]' or word.pos in {"NUM", "SYM"} for word in parsed.words):
        return None
    found = _distributive_object(parsed, root)
    subject = parsed.child(root, "nsubj")
    if found is None or subject is None or subject.pos not in {"NOUN", "PROPN"}:
        return None
    what = parsed.subtree(found)
    opening, words = parsed.words[: what[0].index], parsed.words[what[0].index : -1]
    plain = (
        [word.index for word in what] == [word.index for word in words]
        and len(what) <= _MOST_WORDS
        and all(word.pos in {"NOUN", "PROPN", "ADJ", "DET", "VERB"} for word in what)
        and all(word.low not in _NON_DISTRIBUTIVE and word.dep not in {"neg", "poss", "relcl", "acl"} for word in what)
        and not any(word.low == "no" for word in what)
        and _has_plain_opening(parsed, root, opening)
    )
    denied = parsed.child(root, "neg") is not None
    text = parsed.text[what[0].start : what[-1].end]
    return _Part(parsed.text[: what[0].start].strip(), text, denied) if plain else None


def _distributive_object(parsed: Parsed, root: Word) -> Word | None:
    """The object of a distributive predicate; None if there is none."""
    if root.lemma == "be":
        state = parsed.child(root, "acomp")
        of = parsed.child(state, "prep") if state is not None and state.low in _DISTRIBUTIVE_STATES else None
        return parsed.child(of, "pobj") if of is not None else None
    return parsed.child(root, "dobj", "xcomp") if root.lemma in _DISTRIBUTIVE_VERBS and root.tag != "VBG" else None


def _has_plain_opening(parsed: Parsed, root: Word, opening: Sequence[Word]) -> bool:
    """Whether the opening is only subject, verb and negation."""
    subject = parsed.child(root, "nsubj")
    own = {word.index for word in parsed.subtree(subject)} if subject is not None else set()
    state = parsed.child(root, "acomp")
    rest = [word for word in opening if word.index not in own and word not in {root, state}]
    return (
        len(own) <= 6
        and all(word.dep in {"neg", "aux", "prep"} and word.low != "never" for word in rest)
        and all(parsed.words[index].pos != "ADP" and parsed.words[index].dep != "conj" for index in own)
    )
