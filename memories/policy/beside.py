"""Subject, topics and metadata beside a statement: they may say what its text must not, or not without consent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from accounts.policy.names import spelled_out
from accounts.principals import Principal

from .fields import MAY_SET_A_FIELD, may_set_field, sets_field_beside
from .writing import metadata_entries

MOST_WORDS_JOINED = 5


def said_beside(subject: str, topics: Sequence[str], metadata: Mapping[str, Any] | None = None) -> list[str]:
    """What may contain statements: the subject, topics and metadata texts of over two words, and short ones joined."""
    noted = [text for entry in metadata_entries(metadata or {}) for text in entry if text]
    texts = [form for text in (subject, *topics, *noted) for form in dict.fromkeys((text, spelled_out(text)))]
    joined = " ".join(dict.fromkeys(spelled_out(text) for text in texts if len(text.split()) <= MOST_WORDS_JOINED))
    told = [text for text in texts if len(text.split()) > 2]
    return [*dict.fromkeys([*told, *filter(None, [joined.strip()])])]


def reason_for_document(principal: Principal, content: str, subject: str, verbatim: bool) -> str:
    """Why a verbatim text by somebody else than the person waits for them, or "": it may set a personal field."""
    if not verbatim or subject or principal.speaks_as_person:
        return ""
    return MAY_SET_A_FIELD if may_set_field(content, principal.name) else ""


def reason_beside(principal: Principal, filing: Mapping[str, Any], subject: str = "") -> str:
    """Why subject, topics and metadata by somebody else than the person wait for them, or "": they may set a field.

    ``subject`` is whom the statement is about.
    """
    texts = (form for text in _labelled(filing) for form in dict.fromkeys((text, spelled_out(text))))
    return reason_for_notes(principal, [*filter(None, [filing.get("subject")])]) or reason_for_notes(
        principal, texts, filing.get("subject", subject)
    )


def reason_for_notes(principal: Principal, texts: Iterable[str], subject: str = "") -> str:
    """The same for texts without labels, such as notes about a place."""
    if principal.speaks_as_person:
        return ""
    return MAY_SET_A_FIELD if any(sets_field_beside(text, subject, principal.name) for text in texts) else ""


def _labelled(filing: Mapping[str, Any]) -> Iterator[str]:
    """Yield the topics, and the texts of metadata, also with their keys: "preferred name: Bobby"."""
    yield from filing.get("topics", ())
    for key, text in metadata_entries(filing.get("metadata", {})):
        yield text
        if text and key:
            yield f"{spelled_out(key)}: {text}"
