"""Whether a refusal found by a pattern is the person's own, by the grammar of its sentence."""

from __future__ import annotations

from language.reading.words import listed

from ..parse import Parsed
from .requests import RefusalRequest

_REPORTING = listed("say tell ask think write shout whisper answer reply want beg warn order repeat")
_YOU = frozenset({"you", "u"})


def is_reported(parsed: Parsed, act: RefusalRequest) -> bool:
    """Whether the request is reported speech: its clause depends on "he said", or the other way round."""
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
