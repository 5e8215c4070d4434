"""What a memory reads once it no longer holds: "no longer" in it, or its denial left out."""

from __future__ import annotations

from .corrections import puts_other_right
from .foreign import is_foreign
from .inflection import inflect_third_person, past_of
from .parse import Parsed, Word, parse
from .stems import content_prefixes, prefix, stem_of
from .words import listed

_NAMING = listed("name call title know spell")
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

    None of what is said to be over, of several sentences, of things listed, of names, and of the past.
    """
    told = _single(memory)
    if memory.startswith(NO_LONGER_TRUE) or told is None or tells_name(told[0]):
        return None
    parsed, root = told
    finite = parsed.child(root, "aux", "auxpass") or root
    if is_foreign(memory):
        return NO_LONGER_TRUE + memory
    is_present = finite.tag in {"VBZ", "VBP"} or finite.low == "can"
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

    Of "has two cats, Miso and Pepper" only one may be gone.
    """
    parsed = parse(memory, names=False)
    root = parsed.root if parsed is not None else None
    if parsed is None or root is None or len(parsed.sentences) > 1 or any(word.dep == "conj" for word in parsed.words):
        return None
    return parsed, root


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


def tells_of_another(passage: str, memory: str) -> bool:
    """Whether a passage says what the bearer of a remembered name does, or puts right something else."""
    parsed, known = parse(passage, names=False), parse(memory, names=False)
    is_of_bearer = parsed is not None and known is not None and tells_of_bearer(parsed, known)
    return is_of_bearer or puts_other_right(passage, memory)


def tells_of_bearer(said: Parsed, memory: Parsed) -> bool:
    """Whether a memory tells a name, and a passage what its bearer does: "Ingrid retired"; not that they died."""
    known = content_prefixes(memory.text)
    bearers = [word for word in said.words if word.dep in {"nsubj", "nsubjpass"} and prefix(stem_of(word)) in known]
    return tells_name(memory) and bool(bearers) and not any(said.head(word).lemma in _DIES for word in bearers)


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
