"""Whatever is done, in whatever order: counts equal a recount, revisions have no holes, nobody sees too much."""

import random

import pytest
from django.db.models import Count, F, Max, Sum

from accounts.queries import principal_for_person, principal_for_staff
from facts import actions
from facts.models import FACT, FactVersion, LegacyFact
from journal.exceptions import Refused
from journal.models import Change, Ledger
from journal.undo import undo
from statements.actions import statements_purge
from tests.factories import rev_of

CONTENTS = [
    f"Rosa {what}." for what in ("kept bees", "sang alto", "was kind", "had a café", "hated figs", "swam daily")
]


def check_invariants(legacy, people):
    active = LegacyFact.objects.filter(legacy=legacy, state="active")
    ledger = Ledger.objects.get(pk=legacy.pk)
    assert ledger.facts == active.count()
    assert ledger.fact_terms == (active.aggregate(terms=Sum("search_length"))["terms"] or 0)
    for owner in (legacy, *people):
        counted = Change.objects.filter(ledger_id=owner.pk).aggregate(number=Count("id"), last=Max("rev"))
        assert counted["number"] == (counted["last"] or 0) == Ledger.objects.get(pk=owner.pk).rev
    numbers = FactVersion.objects.values("fact", "fact__version").annotate(count=Count("id"), last=Max("number"))
    assert all(row["count"] == row["last"] == row["fact__version"] for row in numbers)
    latest = FactVersion.objects.filter(number=F("fact__version"))
    assert not latest.exclude(content=F("fact__content"), category=F("fact__category")).exists()
    members = set(legacy.memberships.values_list("user_id", flat=True))
    for person in people:
        seen = set(LegacyFact.objects.visible_to(principal_for_person(person.pk)).values_list("pk", flat=True))
        may = {
            fact.pk
            for fact in LegacyFact.objects.all()
            if fact.user_id == person.pk
            or (fact.visibility == "shared" and fact.state == "active" and person.pk in members)
        }
        assert seen == may


@pytest.mark.parametrize("seed", range(3))
def test_counts_equal_a_recount_after_anything(owner, member, staff, legacy, extract, model, seed):
    chance = random.Random(seed)
    people, moderator = [owner, member], principal_for_staff(staff)

    def do(person):
        principal = principal_for_person(person.pk)
        facts = list(LegacyFact.objects.values_list("pk", flat=True))
        fact_id = chance.choice(facts) if facts else None
        content, category = chance.choice(CONTENTS), chance.choice(LegacyFact.Category.values)
        choices = {
            "add": lambda: actions.fact_add(
                principal, legacy.pk, content, category, chance.choice(["private", "shared"])
            ),
            "extract": lambda: extract(person, legacy, *chance.sample(CONTENTS, 2)),
            "index": actions.facts_index,
            "edit": lambda: actions.fact_edit(principal, fact_id, content=content, category=category),
            "share": lambda: actions.fact_set_visibility(principal, fact_id, "shared"),
            "unshare": lambda: actions.fact_set_visibility(principal, fact_id, "private"),
            "approve": lambda: actions.fact_approve(principal, fact_id),
            "reject": lambda: actions.fact_reject(principal, fact_id),
            "delete": lambda: actions.fact_delete(principal, fact_id),
            "restore": lambda: actions.fact_restore(principal, fact_id),
            "undo": lambda: undo(principal, *sorted(chance.choices(range(1, rev_of(person) + 2), k=2))),
            "hide": lambda: actions.fact_hide(moderator, fact_id, "rude"),
            "unhide": lambda: actions.fact_unhide(moderator, fact_id, "looked again"),
            "purge": lambda: (
                LegacyFact.objects.filter(pk=fact_id).update(purge_at=F("deleted_at")) and statements_purge(FACT)
            ),
            "leave": lambda: actions.member_leave(principal, legacy.pk, legacy.memberships.get(user=member).pk),
        }
        name = chance.choice(list(choices) if fact_id else ["add", "extract"])
        if name == "leave" and (chance.random() > 0.2 or not legacy.memberships.filter(user=member).exists()):
            return "stayed"
        try:
            choices[name]()
        except Refused:
            return "refused"
        return name

    done = [do(chance.choice(people)) for _ in range(60)]
    check_invariants(legacy, people)
    assert len(set(done)) > 8, done
