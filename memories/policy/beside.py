"""Subject, topics and metadata beside a statement: they may say what its text must not, or not without consent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from accounts.policy.names import spelled_out
from accounts.principals import Principal
from language.gates.judging import Meaning
from language.gates.passages import told_together
from language.shown import as_shown
from language.third_person import OF_THE_USER, SHORT_CHARACTERS

from ..models import Memory
from .fields import MAY_SET_A_FIELD, PRONOUNS_ALONE, SENTENCES, field_of, may_set_field
from .labels import gives_field_by_itself, gives_what_it_is_filed_under, is_home, is_profile, is_short_profile
from .pieces import as_the_user, compiled
from .writing import metadata_entries

MOST_WORDS_JOINED = 5
_MOST_TOGETHER = 6
_LANGUAGE_TAG = r"[a-z]{{2,3}}(?:[-_][a-z0-9]{{2,8}})*$"
_IN_FEW_WORDS = compiled([
    r"^(?:please |always )*(?:call|address) (?:her|him|them) (?:as )?(?!(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"{name}[.!]?$",
    r"^(?:(?:the )?user )?(?:name[:=]|nickname[:=]?) ?{name}(?: {name})?(?<!\.\w{{2,5}})$",
    r"^(?:(?:the )?user |current |home )*(?:city|town)[:=] ?{place}",
    r"^home ?(?:city|town),? (?:is )?(?:in )?{place}",
    r"^(?:current |(?:place|city|town) of )*(?:(?-i:residence),?|residence[:=]) ?(?:is )?(?:in )?{place}",
    r"^(?:(?:the )?user |preferred |ui )*locale[:=] ?" + _LANGUAGE_TAG,
    r"^(?:(?:the )?user |preferred |ui )+lang(?:uage)?[:=] ?" + _LANGUAGE_TAG,
    r"^(?:{users} (?:current |own )?(?:home|flat|apartment|house)|home)(?:,| in| near| at) {place}",
    r"^{name}(?: {name})*(?:(?:, | \(| - | ?[=–—] ?)(?:the|our|this) (?:user|account (?:holder|owner))| \((?:user|me)"
    r"|, user$)\)?$",
    r"^the user(?:, | \(| - | ?[=–—] ?){name}(?: {name})*\)?$",
    r"^(?:{users} )?home[:=] ?{place}(?:,? {place})*[.!]?$",
])  # fmt: skip
"""What labels and names of a few words say of the user, who is not named there."""


def texts_beside(
    subject: str, topics: Sequence[str], metadata: Mapping[str, Any] | None = None, document: str = ""
) -> list[str]:
    """The subject, topics and metadata texts, with words apart that are written together.

    Also what short texts of the metadata and of a verbatim ``document`` say together: "debt to Karl eur 9000".
    """
    noted = json.dumps(metadata, ensure_ascii=False) if metadata else ""
    together = (told for text in (document, noted) for told in told_together(text, SHORT_CHARACTERS)[:_MOST_TOGETHER])
    return [*dict.fromkeys([*together, *_apart(subject, topics, metadata)])]


def texts_to_judge(subject: str, topics: Sequence[str], metadata: Mapping[str, Any] | None = None) -> list[str]:
    """The texts of ``texts_beside`` that may tell something of the user by their meaning.

    What metadata say together is among them only if a text of it has several words: "source me app shop" means nothing.
    """
    says_more = any(" " in text.strip() for text in _noted(metadata or {}))
    return texts_beside(subject, topics, metadata) if says_more else _apart(subject, topics, metadata)


def _apart(subject: str, topics: Sequence[str], metadata: Mapping[str, Any] | None) -> list[str]:
    return [*dict.fromkeys(spelled_out(text) for text in (subject, *topics, *_noted(metadata or {})) if text)]


def said_beside(subject: str, topics: Sequence[str], metadata: Mapping[str, Any] | None = None) -> list[str]:
    """What may contain statements: the subject, topics and metadata texts of over two words, and short ones joined."""
    noted = _noted(metadata or {})
    texts = [form for text in (subject, *topics, *noted) for form in dict.fromkeys((text, spelled_out(text)))]
    joined = " ".join(dict.fromkeys(spelled_out(text) for text in texts if len(text.split()) <= MOST_WORDS_JOINED))
    told = [text for text in texts if len(text.split()) > 2]
    return [*dict.fromkeys([*told, *filter(None, [joined.strip()])])]


def reason_for_document(principal: Principal, content: str, subject: str, verbatim: bool) -> str:
    """Why a verbatim text by somebody else than the person waits for them, or "": it may set a personal field."""
    if not verbatim or subject or principal.speaks_as_person:
        return ""
    is_short = len(content) <= SHORT_CHARACTERS
    gives = is_short and (gives_field_by_itself([content]) or is_short_profile(content))
    return MAY_SET_A_FIELD if gives or may_set_field(content, principal.name) else ""


def reason_filed(principal: Principal, content: str, filing: Mapping[str, Any], meaning: Meaning | None = None) -> str:
    """Why a statement with its subject, topics and metadata, by somebody else than the person, waits for them, or "".

    Together they may set a field: "[Preferred name] Bobby since 2020.". ``meaning`` is the statement's.
    """
    if principal.speaks_as_person:
        return ""
    labels = map(spelled_out, [*filing["topics"], *_noted(filing["metadata"])])
    return MAY_SET_A_FIELD if gives_what_it_is_filed_under(content, filing["subject"], labels, meaning) else ""


def reason_beside(principal: Principal, filing: Mapping[str, Any], subject: str = "") -> str:
    """Why subject, topics and metadata by somebody else than the person wait for them, or "": they may set a field.

    ``subject`` is whom the statement is about.
    """
    noted = filing.get("metadata", {})
    apart = [*filing.get("topics", ()), *_noted(noted)]
    if not principal.speaks_as_person and (
        gives_field_by_itself([spelled_out(text) for text in apart])
        or is_profile((spelled_out(key), text) for key, text in metadata_entries(noted))
    ):
        return MAY_SET_A_FIELD
    texts = (form for text in _labelled(filing) for form in dict.fromkeys((text, spelled_out(text))))
    return reason_for_notes(principal, [*filter(None, [filing.get("subject")])]) or reason_for_notes(
        principal, texts, filing.get("subject", subject)
    )


def reason_for_notes(principal: Principal, texts: Iterable[str], subject: str = "") -> str:
    """The same for texts without labels, such as notes about a place."""
    if principal.speaks_as_person:
        return ""
    return MAY_SET_A_FIELD if any(_sets_field(text, subject, principal.name) for text in texts) else ""


def reason_for_place(principal: Principal, name: str, notes: str, place_id: str = "") -> str:
    """The same for a place, which prompts show as "name: notes"."""
    if not principal.speaks_as_person and is_home(name, notes, spelled_out(place_id)):
        return MAY_SET_A_FIELD
    return reason_for_notes(principal, [name, notes, f"{name}: {notes}"])


def title_waits(principal: Principal, title: str) -> bool:
    """Whether a conversation's title by somebody else than the person may say a personal field."""
    return bool(reason_for_notes(principal, [title]))


def _sets_field(text: str, subject: str, name: str) -> bool:
    """Whether a text beside a statement about ``subject``, such as a topic, gives a name, pronouns, a city or language.

    Topics are rarely sentences, so it has to be about the user by its own words: "live music in Porto" is not.
    Pronouns alone are, and so are few words such as "home city Porto".
    """
    shown, first = as_the_user(as_shown(text).strip()), name.partition(" ")[0]
    if subject in {"", "user"} and (
        PRONOUNS_ALONE.search(shown) or _IN_FEW_WORDS.search(shown) or gives_field_by_itself([shown])
    ):
        return True
    if not (OF_THE_USER.search(shown) or (first and shown.startswith(first))):
        return False
    asked = {"", Memory.Field.TONE, Memory.Field.GOAL}
    return any(field_of(each, subject, name) not in asked for each in SENTENCES.split(shown))


def _noted(metadata: Mapping[str, Any]) -> list[str]:
    """The keys and texts of metadata."""
    return [text for entry in metadata_entries(metadata) for text in entry if text]


def _labelled(filing: Mapping[str, Any]) -> Iterator[str]:
    """Yield the topics, and the texts of metadata, also with their keys: "preferred name: Bobby"."""
    yield from filing.get("topics", ())
    for key, text in metadata_entries(filing.get("metadata", {})):
        yield text
        if text and key:
            yield f"{spelled_out(key)}: {text}"
