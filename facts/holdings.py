"""Declarations of personal data in this room's tables; see ``journal.holdings``."""

from django.db.models import Q

from journal.holdings import ERASED_TEXT, SEARCHED, VECTOR, Holding
from retrieval.text import prepare
from statements.holdings import STATED, STATED_TERMS, VERSION_TERMS
from statements.policy import fingerprint

from .models import FactEvidence, FactLink, FactVersion, LegacyFact


def _fact_found(fact: LegacyFact, language: str) -> None:
    fact.fingerprint = fingerprint(fact.user_id, fact.content)
    prepare(fact.content, language).put_on(fact)


HOLDINGS = (
    Holding(
        model=LegacyFact,
        kind="facts",
        owner="user_id",
        words={"content": ERASED_TEXT, **STATED, **VECTOR},
        terms=("visibility", *STATED_TERMS),
        made={**SEARCHED, "fingerprint": ""},
        remake=_fact_found,
    ),
    Holding(
        model=FactVersion,
        kind="fact_versions",
        owner="fact__user_id",
        words={"content": ERASED_TEXT, "actor_id": ""},
        terms=VERSION_TERMS,
        revs=("recorded_from_rev", "recorded_to_rev"),
        refers=("actor_id",),
    ),
    Holding(model=FactEvidence, kind="fact_evidence", owner="fact__user_id", words={"quote": ""}),
    # Without links to another member's facts, which are that member's data as well.
    Holding(
        model=FactLink,
        kind="fact_links",
        theirs=lambda user_id: Q(from_fact__user_id=user_id, to_fact__user_id=user_id),
        terms=("kind",),
    ),
)
