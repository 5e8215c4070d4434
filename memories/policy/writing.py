"""Rules for writing memories: validation, category and kind, review and consent. No database."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.utils.translation import gettext as _

from accounts import categories, policy
from accounts.policy.names import check_labels
from accounts.principals import Principal
from journal.exceptions import Gated, NotAllowed, NotYoursToDecide, Refused
from language.gates.judging import Meaning
from retrieval.text import list_words
from statements.policy import admit, check_extracted, check_statement, check_steps
from statements.policy.form import LONGEST, LONGEST_EXTRACTED, check_characters
from web.json import encoded

from ..models import Kind, Memory
from ..records import NewMemory
from .fields import field_of

State = Memory.State
Why = Memory.DeletedWhy

_FIGURE = re.compile(r"\d+")
LONGEST_PROCEDURE = 4_000
LONGEST_VERBATIM = 4_000
PROCEDURES = "procedural"
"""The category of procedures only."""
MOST_TOPICS = 20
LARGEST_METADATA = 4_096
DEEPEST_METADATA = 8
MANY_VALUED_FIELDS = frozenset({Memory.Field.GOAL})
"""Fields with several values at a time."""

_KINDS = frozenset(Kind.values)
_FIELDS = frozenset(Memory.Field.values)

RESTORED_BY_AGENTS = frozenset({Why.AGENT, Why.TTL, Why.EVICTED})


def waits(principal: Principal, field: str) -> bool:
    """Whether a change by the principal needs the person's approval: they review before use, or it is a field."""
    return not principal.speaks_as_person and (principal.review == "before" or bool(field))


def keeps_value(before: str, after: str) -> bool:
    """Whether two wordings differ in figures only: "moved to Breda in 2016" sets the same city with another year."""
    return _FIGURE.sub("0", before) == _FIGURE.sub("0", after)


def with_field(principal: Principal, new: NewMemory, meaning: Meaning | None = None) -> NewMemory:
    """Return the memory with the field that its content sets, if the caller gave none."""
    if new.field:
        return new
    said = said_field(principal, new.content, new.kind, new.subject, meaning)
    # A field is always a semantic statement about the person.
    return replace(new, field=said, subject="", kind=Kind.SEMANTIC) if said else new


def said_field(principal: Principal, content: str, kind: str, subject: str, meaning: Meaning | None = None) -> str:
    """Return the personal field that a content sets, or ''.

    ``meaning`` (``Embedded.statement``) detects it where no rule matches. Checked for semantic memories and for agents'
    episodes, for these a tone or goal by rules only; episodes written by Keepsake only report what was said.
    """
    if kind == Kind.SEMANTIC:
        return field_of(content, subject, principal.name, meaning)
    if kind != Kind.EPISODIC or not principal.agent_id:
        return ""
    by_rule = field_of(content, subject, principal.name)
    said = by_rule or field_of(content, subject, principal.name, meaning)
    return by_rule if said in {Memory.Field.TONE, Memory.Field.GOAL} else said


def is_used(state: str, reviewed_at: datetime | None, review: str) -> bool:
    """Whether a memory with this state is used, given the person's ``review`` preference."""
    return state == State.ACTIVE and (review != "before" or reviewed_at is not None)


def is_unused(memory: Memory, review: str) -> bool:
    """Whether a memory is not used until its person approves it, given their ``review`` preference."""
    waits = memory.state in {State.ACTIVE, State.PROPOSED}
    return waits and not is_used(memory.state, memory.reviewed_at, review)


def review_state(memory: Memory) -> str:
    """The state of a memory; for an active one "waiting" or "reviewed"."""
    if memory.state != State.ACTIVE:
        return str(memory.state)
    return "waiting" if memory.reviewed_at is None else "reviewed"


def is_settled(principal: Principal, consent: bool, relayed: bool, field: str) -> bool:
    """Whether the person's request makes a memory active at once.

    An agent may have invented what it ``relayed``: that settles no single-valued field (name, pronouns, city,
    language), and nothing where the person reviews before use.
    """
    return consent and not (relayed and (principal.review == "before" or single_valued(field)))


def must_file_under(principal: Principal, category: str) -> str:
    """Return the category of a name or alias.

    Raises Refused (400 ``unknown_category``), NotAllowed (403 ``category_not_allowed``, which names it).
    """
    (canonical,) = policy.canonical_categories([category])
    if principal.categories is not None and canonical not in principal.categories:
        raise NotAllowed(
            _("This agent has no access to the category %(canonical)s.") % {"canonical": canonical},
            code="category_not_allowed",
            category=canonical,
        )
    return canonical


def is_in_block(kind: str, category: str) -> bool:
    """Whether active memories of this kind and category are in the memory block. None of a removed category are."""
    known = categories.load().by_name.get(category)
    return kind == Kind.SEMANTIC and known is not None and known.context == "all"


def single_valued(field: str) -> bool:
    """Whether a person has one value of a field at a time."""
    return bool(field) and field not in MANY_VALUED_FIELDS


def longest(kind: str, verbatim: bool = False) -> int:
    """The maximum number of characters of a content of this kind."""
    if verbatim:
        return LONGEST_VERBATIM
    return LONGEST_PROCEDURE if kind == Kind.PROCEDURAL else LONGEST


def admitted(content: str, kind: str, *, own_word: bool, verbatim: bool = False) -> str:
    """Validate a new wording of an existing memory and return its stored form; ``verbatim`` skips the checks of form.

    Raises Gated (422), also for text that would be quarantined in a new memory: otherwise rewording could hide a memory
    from the person.
    """
    steps = kind == Kind.PROCEDURAL
    passed = admit(content, own_word=own_word, longest=longest(kind, verbatim), verbatim=verbatim, steps=steps)
    if passed.held_back:
        raise Gated(passed.held_back)
    if not own_word and not verbatim:
        check_worded(passed.content, kind)
    check_no_guess(kind, own_word=own_word)
    return passed.content


def check_no_guess(kind: str, *, own_word: bool) -> None:
    """Raise Gated (422) if somebody other than the person edits an insight or its category or importance."""
    if not own_word and kind == Kind.INSIGHT:
        raise Gated("Insights are guesses that Keepsake makes itself. Remember what you know as a memory of its own.")


def admitted_from_model(content: str) -> str:
    """Validate a wording by a model or rule and return its stored form: short and in the third person.

    Raises Gated (422), also for text that would be quarantined.
    """
    passed = admit(content, own_word=False, longest=LONGEST_EXTRACTED)
    if passed.held_back:
        raise Gated(passed.held_back)
    return check_extracted(passed.content)


def check_worded(content: str, kind: str) -> None:
    """Raise Gated (422) for an agent's text that is no third person statement, or no steps for a procedure.

    It is not rewritten: only its writer knows whom "I" or "he" means.
    """
    if kind == Kind.PROCEDURAL:
        check_steps(content, longest=LONGEST_PROCEDURE)
    else:
        check_statement(content)


def bound(kind: str, category: str) -> str:
    """Return the kind for a category: the category ``procedural`` contains procedures only, and all of them.

    Raises Refused (400 ``bad_kind``).
    """
    if category == PROCEDURES and kind == Kind.SEMANTIC:
        return Kind.PROCEDURAL
    if (kind == Kind.PROCEDURAL) != (category == PROCEDURES):
        raise Refused(
            _("Steps, and nothing else, are filed under %(procedures)s.") % {"procedures": PROCEDURES}, code="bad_kind"
        )
    return kind


def clean(principal: Principal, new: NewMemory, now: datetime) -> NewMemory:
    """Validate and normalise a new memory, except its content.

    Raises Refused (400), NotAllowed (403 ``category_not_allowed``), Gated (422).
    """
    if new.kind not in _KINDS:
        raise Refused(_("A kind is one of %(values)s.") % {"values": ", ".join(Kind.values)}, code="bad_kind")
    if new.kind == Kind.INSIGHT:
        raise Refused(_("Insights are guesses that Keepsake makes itself. Say it as another kind."), code="bad_kind")
    check_field(new)
    check_importance(new.importance)
    check_expiry(new.expires_at, now)
    check_validity(new.valid_from, new.valid_to)
    for name, most in (("external_id", 255), ("run_id", 100), ("actor_id", 100), ("role", 20)):
        check_characters(getattr(new, name))
        _check_length(name, getattr(new, name), most)
    check_labels(principal, new.external_id, new.run_id, new.actor_id, new.role)
    own_word = principal.speaks_as_person
    category = must_file_under(principal, new.category)
    return replace(
        new,
        category=category,
        kind=bound(new.kind, category),
        subject=clean_subject(new.subject, own_word=own_word),
        topics=clean_topics(new.topics, own_word=own_word),
        metadata=clean_metadata(new.metadata, own_word=own_word),
    )


def check_field(new: NewMemory) -> None:
    """Raise Refused for an unknown field, or one with a subject or a kind other than semantic."""
    if not new.field:
        return
    if new.field not in _FIELDS:
        raise Refused(_("A field is one of %(values)s.") % {"values": ", ".join(Memory.Field.values)}, code="bad_field")
    if new.subject.strip() or new.kind != Kind.SEMANTIC:
        raise Refused(_("A field is about the person: it has no subject, and its kind is semantic."), code="bad_field")


def check_importance(importance: int) -> None:
    """Raise Refused unless it is an integer from 1 to 5."""
    if isinstance(importance, bool) or not isinstance(importance, int) or not 1 <= importance <= 5:
        raise Refused(_("The importance is a whole number from 1 to 5."), code="bad_importance")


def check_expiry(expires_at: datetime | None, now: datetime) -> None:
    """Raise Refused for a time that has passed."""
    if expires_at is not None and expires_at <= now:
        raise Refused(_("expires_at has passed already."), code="bad_expiry")


def check_validity(valid_from: datetime | None, valid_to: datetime | None) -> None:
    """Raise Refused for a span that ends before it begins."""
    if valid_from is not None and valid_to is not None and valid_to < valid_from:
        raise Refused(_("valid_to comes before valid_from."), code="bad_validity")


def clean_subject(subject: str, *, own_word: bool) -> str:
    """A subject in its stored form: at most 200 characters. Raises Refused (400), Gated (422)."""
    return clean_label("subject", subject, 200, own_word=own_word)


def clean_topics(topics: Sequence[str], *, own_word: bool) -> tuple[str, ...]:
    """Topics in their stored form, each once: at most 20 of 50 characters. Raises Refused (400), Gated (422)."""
    cleaned = [clean_label("topic", topic, 50, own_word=own_word) for topic in topics]
    kept = tuple(dict.fromkeys(topic for topic in cleaned if topic))
    if len(kept) > MOST_TOPICS:
        raise Refused(
            _("A memory has at most %(most_topics)s topics.") % {"most_topics": MOST_TOPICS}, code="bad_topics"
        )
    return kept


def clean_metadata(metadata: Mapping[str, Any], *, own_word: bool) -> dict[str, Any]:
    """Validate a client's metadata: at most 4,096 bytes as JSON, at most 8 levels deep.

    A client may put it in prompts, so its keys and texts are checked like a subject. Raises Refused (400
    ``bad_metadata``), Gated (422).
    """
    entries = list(metadata_entries(metadata))
    texts = [text for entry in entries for text in entry if text]
    if any("\0" in text for text in texts):
        raise Refused(_("The metadata holds a NUL, which can't be stored."), code="bad_metadata")
    try:
        size = len(encoded(metadata))
    except orjson.JSONEncodeError as error:
        raise Refused(_("The metadata is not JSON."), code="bad_metadata") from error
    if size > LARGEST_METADATA:
        raise Refused(
            _("The metadata has %(size)s bytes as JSON; %(largest_metadata)s are allowed.")
            % {"size": size, "largest_metadata": LARGEST_METADATA},
            code="bad_metadata",
        )
    if texts:
        # Key and value together: neither half of "password: …" is a secret.
        policy.check_sensitive("\n".join(": ".join(filter(None, entry)) for entry in entries))
        # Separately, as "system: crm" would look like a chat message.
        for text in () if own_word else texts:
            _check_instructions("metadata", text)
    return dict(metadata)


def metadata_entries(value: Any, name: str = "", depth: int = 1) -> Iterator[tuple[str, str]]:
    """Yield the keys and texts of a JSON value as pairs; either may be empty. Raises Refused if nested too deep."""
    if not isinstance(value, Mapping | list):
        yield name, value if isinstance(value, str) else ""
        return
    if depth > DEEPEST_METADATA:
        raise Refused(
            _("Metadata is nested at most %(deepest_metadata)s deep.") % {"deepest_metadata": DEEPEST_METADATA},
            code="bad_metadata",
        )
    yield name, ""
    for key, each in value.items() if isinstance(value, Mapping) else (("", each) for each in value):
        yield from metadata_entries(each, str(key), depth + 1)


def clean_label(name: str, text: str, longest: int, *, own_word: bool) -> str:
    """Validate a short text that appears in prompts; it may be empty.

    Raises Refused (400 ``bad_`` and the name), Gated (422).
    """
    text = check_characters(text)
    _check_length(name, text, longest)
    if text:
        policy.check_sensitive(text)
        if not own_word:
            _check_instructions(_(name), text)
    return text


def _check_instructions(name: str, text: str) -> None:
    policy.check_instructions(text, _("The %(name)s was refused because it %(reason)s."), name=name)


def _check_length(name: str, text: str, longest: int) -> None:
    if len(text) > longest:
        raise Refused(
            _("A %(name)s has at most %(longest)s characters.") % {"name": _(name), "longest": longest},
            code=f"bad_{name}",
        )


def subject_key(subject: str) -> str:
    """Return the comparison key of a subject: its words without case and accents."""
    return " ".join(list_words(subject))


def are_apart(one: str, other: str) -> bool:
    """Whether two subjects differ; an empty one matches any."""
    return bool(one) and bool(other) and subject_key(one) != subject_key(other)


def is_undecided(memory: Memory, agent_id: UUID | None) -> bool:
    """Whether a relayed request puts a memory away: the person didn't decide about it, and it is no other agent's."""
    decided = memory.reviewed_at is not None or memory.pinned or not memory.written_by
    return not decided and memory.agent_id in {None, agent_id}


def must_restore(principal: Principal, memory: Memory) -> None:
    """Raise NotYoursToDecide if an agent restores a memory that the person or staff archived."""
    by_itself = memory.state == State.ARCHIVED and memory.deleted_why in RESTORED_BY_AGENTS
    if not (by_itself or principal.decides_what_returns):
        raise NotYoursToDecide


def brief(memory: Memory) -> dict[str, Any]:
    """The fields of a memory in a conflict response."""
    return {
        "id": memory.pk,
        "content": memory.content,
        "category": memory.category,
        "subject": memory.subject,
        "version": memory.version,
    }
