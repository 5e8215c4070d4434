"""What a memory reads once it no longer holds: "no longer" in it, or its denial left out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .corrections import puts_other_right
from .foreign import is_foreign
from .inflection import inflect_third_person, past_of
from .parse import Parsed, Word, parse
from .stems import content_prefixes, prefix, stem_of
from .words import listed

_NAMING = listed("name call title know spell")
_MUTUAL = listed(
    "neighbour neighbor friend colleague flatmate roommate housemate partner classmate couple marry engage together"
)
_DAY = re.compile(r"(?i)(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|(?:morn|even)ings?|afternoons?|nights?")
_ROLES = listed(
    """boss manager supervisor teacher tutor doctor dentist gp therapist trainer coach hairdresser barber neighbour
    neighbor flatmate roommate housemate lodger tenant landlord landlady cleaner nanny babysitter vet assistant
    secretary lawyer accountant girlfriend boyfriend"""
)
"""Whom others may follow, so that a name of theirs ends."""
_LEAVES = listed("leave retire quit resign move go")
_DIES = listed("die pass vanish disappear")
_DENIALS = listed("no not never n't")
_UNCLEAR = listed("without nobody nothing neither nor hardly longer anymore")
NO_LONGER_TRUE = "No longer true: "


def ended(memory: str) -> str | None:
    """Return a memory in the third person as it reads when it is over; None if no correct sentence can be made.

    There is none of a past event, nor of a name of what is gone: they may have been true.
    """
    told = _single(memory)
    if told is None or told[0].child(told[1], "nsubj", "nsubjpass") is None:
        return None
    parsed, root = told
    helper = parsed.child(root, "aux", "auxpass")
    denials = [word for word in parsed.words if word.low in _DENIALS]
    if any(word.low in _UNCLEAR for word in parsed.words) or len(denials) > 1:
        content = None
    elif denials:
        content = _affirmed(parsed, root, helper, denials[0])
    else:
        content = _denied(parsed, root, helper)
    return content


def over(memory: str) -> str | None:
    """Return a memory behind the words that it is no longer true, for one that has no denial of its own or is foreign.

    None of what is said to be over, of several sentences, of things listed, of the past, and of names but of those who
    may be followed by others: "The user's boss is called Ann.".
    """
    told = _single(memory)
    if memory.startswith(NO_LONGER_TRUE) or told is None:
        return None
    parsed, root = told
    if tells_name(parsed) and not _names_role(parsed):
        return None
    finite = parsed.child(root, "aux", "auxpass") or root
    if is_foreign(memory):
        return NO_LONGER_TRUE + memory
    is_present = finite.tag in {"VBZ", "VBP"} or finite.low in {"can", "will"}
    return f"{NO_LONGER_TRUE}{memory[:1].lower()}{memory[1:]}" if is_present and memory.startswith("The ") else None


def denied(memory: str) -> str | None:
    """Return a memory of the past as never so: "was not a piper"; None of the present, or with a denial or a list."""
    told = _single(memory)
    if told is None:
        return None
    parsed, root = told
    helper = parsed.child(root, "aux", "auxpass")
    finite = helper or root
    if finite.tag != "VBD" or any(word.low in _DENIALS | _UNCLEAR for word in parsed.words):
        return None
    if finite.lemma == "be" or helper is not None:
        return f"{memory[: finite.end]} not{memory[finite.end :]}"
    return f"{memory[: root.start]}did not {root.lemma}{memory[root.end :]}"


def _single(memory: str) -> tuple[Parsed, Word] | None:
    """Return the parse of a memory and its main verb; None of several sentences, or of things listed.

    Of "has two cats, Miso and Pepper" only one may be gone. Days may be listed: "on Mondays and Fridays".
    """
    parsed = parse(memory, names=False)
    root = parsed.root if parsed is not None else None
    if parsed is None or root is None or len(parsed.sentences) > 1:
        return None
    listed_ones = [word for word in parsed.words if word.dep == "conj" and not _DAY.fullmatch(word.text)]
    return (parsed, root) if not listed_ones or _is_mutual(parsed, root, listed_ones) else None


def _is_mutual(parsed: Parsed, root: Word, others: Sequence[Word]) -> bool:
    """Whether what is said of several is over for all once it is for one: "are neighbours", "are married"."""
    subject = parsed.child(root, "nsubj", "nsubjpass")
    of_them = [word.index for word in parsed.subtree(subject)] if subject is not None else []
    return all(each.index in of_them for each in others) and any(
        word.lemma in _MUTUAL for word in parsed.words if word.index not in of_them
    )


def never_so(memory: str, passage: str) -> str | None:
    """Return a memory of what somebody does as never so, if a passage says that they never did; otherwise None."""
    known, parsed = parse(memory, names=False), parse(passage, names=False)
    root = known.root if known is not None else None
    if known is None or parsed is None or root is None or root.tag not in {"VBZ", "VBP"} or root.lemma == "be":
        return None
    denied = (verb for verb in parsed.words if any(each.low == "never" for each in parsed.children(verb)))
    if known.child(root, "aux", "neg") or not any(each.tag == "VBD" and each.lemma == root.lemma for each in denied):
        return None
    return f"{memory[: root.start]}never {past_of(root.lemma)}{memory[root.end :]}"


def _denied(parsed: Parsed, root: Word, helper: Word | None) -> str | None:
    finite, text = helper or root, parsed.text
    is_plain = helper is None and root.lemma != "be"
    before, after = (finite.start, finite.start) if is_plain else (finite.end, finite.end)
    if tells_name(parsed) or (helper is not None and helper.lemma not in {"be", "can"}):
        return None
    if finite.tag not in {"VBZ", "VBP"} and finite.low != "can":
        return None
    return f"{text[:before].rstrip()} no longer {text[after:].lstrip()}"


def tells_name(parsed: Parsed) -> bool:
    """Whether a memory tells a name: "The user's cat is called Momo.", "The user's wife's name is Ingrid."."""
    root = parsed.root
    subject = parsed.child(root, "nsubj", "nsubjpass") if root is not None else None
    named = root is not None and root.lemma == "be" and subject is not None and subject.lemma in _NAMING
    return named or (root is not None and root.lemma in _NAMING)


def _names_role(parsed: Parsed) -> bool:
    return any(word.lemma in _ROLES and word.dep in {"nsubj", "nsubjpass", "poss"} for word in parsed.words)


def tells_of_another(passage: str, memory: str) -> bool:
    """Whether a passage says what the bearer of a remembered name does, or puts right something else."""
    parsed, known = parse(passage, names=False), parse(memory, names=False)
    is_of_bearer = parsed is not None and known is not None and tells_of_bearer(parsed, known)
    return is_of_bearer or puts_other_right(passage, memory)


def tells_of_bearer(said: Parsed, memory: Parsed) -> bool:
    """Whether a memory tells a name, and a passage what its bearer does: "Ingrid retired".

    Not that they died, nor that they left a role.
    """
    known, ends = content_prefixes(memory.text), _DIES | (_LEAVES if _names_role(memory) else frozenset())
    bearers = [word for word in said.words if word.dep in {"nsubj", "nsubjpass"} and prefix(stem_of(word)) in known]
    return tells_name(memory) and bool(bearers) and not any(said.head(word).lemma in ends for word in bearers)


def _affirmed(parsed: Parsed, root: Word, helper: Word | None, denial: Word) -> str | None:
    """Return a denying sentence without its denial: "The user drinks alcohol."."""
    text, start, end, verb = parsed.text, denial.start, denial.end, ""
    if denial.dep != "neg":
        nouns = parsed.words[denial.index + 1 :]
        if denial.dep != "det" or not nouns or nouns[0].tag not in {"NNP", "NNS"}:
            return None  # "No car" would become "a car", "no milk" only "milk".
    elif helper is not None and helper.lemma == "do":
        start, end = helper.start, root.end
        verb = past_of(root.lemma) if helper.tag == "VBD" else root.lemma
        verb = inflect_third_person(verb) if helper.tag == "VBZ" else verb
    before = text[:start].rstrip()
    before = f"{before[:-2]}can" if before.endswith(" ca") else before
    return " ".join(f"{before} {verb} {text[end:]}".split()).replace(" .", ".")
