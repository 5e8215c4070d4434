"""Whether words that ask for something are a request of the person's, by the grammar of their sentence."""

from __future__ import annotations

from language.reading.words import listed

from ..parse import Parsed, Word
from .requests import Act

_REPORTING = listed("say tell ask think write shout whisper answer reply want beg warn order repeat")
_WISHES = listed(
    """want like prefer wish ask need beg hope trust regret consent object allow mean say feel appreciate rather
    care"""
)
_MINDS = listed("want hate like love mind kill hurt die turn upset be")
_POINTS_AT = listed("that this it these those which none nothing nobody one part bit thing what you u ya we")
_KEPT = listed(
    "record file notes notebook book album memory story paper page profile posterity trace hush incognito secret"
)
_YOU = frozenset({"you", "u"})
_I = frozenset({"i", "we", "id"})
_NOTICES = frozenset({"see", "have", "read", "find", "hear"})


def is_reported(parsed: Parsed, act: Act) -> bool:
    """Whether somebody else says it, or said it then: the clause depends on "he said", or that on the clause."""
    words = [word for word in parsed.words if act.start <= word.start < act.end]
    inside = {word.index for word in words}
    linked = {"ccomp", "xcomp", "acl", "advcl", "parataxis", "nsubj"}
    heads = [parsed.head(word) for word in words if word.dep in linked and word.head not in inside]
    heads += [each for word in words for each in parsed.children(word) if each.dep == "parataxis"]
    for head in heads:
        subject = parsed.child(head, "nsubj", "nsubjpass")
        if head.lemma in _REPORTING and subject is not None and subject.low not in _YOU | {"i"}:
            return True
    return False


def may_ask(parsed: Parsed, act: Act) -> bool:
    """Whether a part of a sentence can be a request: what "I" or somebody else did asks nothing."""
    inside = [word for word in parsed.words if act.start <= word.start < act.end]
    indices = {word.index for word in inside}
    root = next((word for word in inside if word.head == word.index or word.head not in indices), None)
    if root is None or not any(word.pos in {"VERB", "AUX"} for word in inside):
        return any(word.low in _POINTS_AT | _KEPT for word in inside)
    subject = parsed.child(root, "nsubj", "nsubjpass")
    subject = subject if subject is not None and subject.index in indices else None
    helped = {each.low for each in parsed.children(root) if each.dep == "aux"}
    if root.head not in indices and _goes_on(root, subject, helped):
        return False
    if subject is None or subject.low in _POINTS_AT:
        return subject is None or subject.low != "it" or not helped & {"has", "had"}
    if subject.low in _I:
        return _wishes(parsed, root, inside, helped)
    if subject.pos == "PRON" or subject.entity == "PERSON":
        return root.lemma in _MINDS and bool(helped & {"would", "'d", "does", "do", "d"})
    return root.tag in {"VBZ", "VBP", "VB"}


def _goes_on(root: Word, subject: Word | None, helped: set[str]) -> bool:
    """Whether what is told goes on: "so that no one would read it", "and won't go back to it"."""
    if root.dep in {"relcl", "advcl"} and (subject is None or subject.low not in _YOU):
        return root.dep == "relcl" or subject is not None
    linked = root.dep in {"advcl", "conj", "xcomp"} and subject is None
    tensed = helped & {"to", "will", "wo", "would", "could", "can", "ca"} or root.tag in {"VBD", "VBZ", "VBG"}
    return linked and bool(tensed)


def _wishes(parsed: Parsed, root: Word, inside: list[Word], helped: set[str]) -> bool:
    """Whether "I" wishes something: "I'd be mortified if that were kept", not "I don't want to go back to that"."""
    inner = parsed.child(root, "xcomp", "ccomp")
    about = parsed.child(inner, "nsubj", "nsubjpass") if inner is not None else None
    if root.lemma in {"think", "guess", "suppose"}:
        return about is not None and about.low in _POINTS_AT
    own = inner is not None and inner.dep == "xcomp" and about is None and inner.lemma not in _NOTICES
    if any(each.low in _POINTS_AT for each in inside) and helped & {"would", "'d", "d", "should"}:
        return not own
    return root.lemma in _WISHES and root.tag != "VBD" and not (own and root.lemma in {"want", "like", "care"})
