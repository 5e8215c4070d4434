"""What the database itself refuses: evidence of somebody else, links across legacies, rows that change hands."""

import pytest
from django.db import Error, IntegrityError, connection, transaction

from accounts.queries import principal_for_person
from conversations.models import Message
from facts import actions
from facts.models import FactEvidence, FactLink, FactVersion, LegacyFact
from statements.actions import purging
from tests import factories

EVIDENCE = "INSERT INTO facts_factevidence (fact_id, message_id, quote) VALUES (%s, %s, 'bees')"
LINK = (
    "INSERT INTO facts_factlink (from_fact_id, to_fact_id, kind, strength, created_at)"
    " VALUES (%s, %s, 'duplicate', 1, now())"
)


def refused(statement, *values):
    with pytest.raises(IntegrityError) as error, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)
    return str(error.value)


def run(statement, *values):
    with connection.cursor() as cursor:
        cursor.execute(statement, values)


def message_of(person, legacy):
    return factories.MessageFactory(conversation__user=person, conversation__legacy=legacy)


@pytest.fixture
def fact(owner, legacy):
    return factories.LegacyFactFactory(legacy=legacy, user=owner)


def test_evidence_is_a_message_of_the_fact_s_person(fact, owner, member, legacy):
    assert "of its person" in refused(EVIDENCE, fact.pk, message_of(member, legacy).pk)
    own = message_of(owner, legacy)
    run(EVIDENCE, fact.pk, own.pk)
    theirs = message_of(member, legacy).pk
    refused("UPDATE facts_factevidence SET message_id = %s", theirs)
    refused("UPDATE facts_factevidence SET fact_id = %s", factories.LegacyFactFactory(legacy=legacy, user=member).pk)
    assert FactEvidence.objects.get().message_id == own.pk


def test_evidence_is_about_the_fact_s_legacy(fact, owner):
    other = factories.LegacyFactory(owner=owner)
    refused(EVIDENCE, fact.pk, message_of(owner, other).pk)
    refused(EVIDENCE, fact.pk, message_of(owner, None).pk)
    assert not FactEvidence.objects.exists()


def test_a_link_stays_within_a_legacy(fact, owner, member, legacy):
    elsewhere = factories.LegacyFactFactory(legacy=factories.LegacyFactory(owner=owner), user=owner)
    assert "one legacy" in refused(LINK, fact.pk, elsewhere.pk)
    refused(LINK, elsewhere.pk, fact.pk)
    theirs = factories.LegacyFactFactory(legacy=legacy, user=member)
    run(LINK, fact.pk, theirs.pk)
    refused("UPDATE facts_factlink SET to_fact_id = %s", elsewhere.pk)
    assert FactLink.objects.get().to_fact_id == theirs.pk


def test_many_at_once_are_refused_as_a_whole(fact, owner, member, legacy):
    messages = [message_of(owner, legacy), message_of(member, legacy)]
    with pytest.raises(IntegrityError), transaction.atomic():
        FactEvidence.objects.bulk_create(FactEvidence(fact=fact, message=each, quote="bees") for each in messages)
    assert not FactEvidence.objects.exists()


@pytest.mark.parametrize("column", ["user_id", "legacy_id"])
def test_facts_and_messages_never_change_hands(fact, owner, member, legacy, column):
    message = message_of(owner, legacy)
    other = member.pk if column == "user_id" else factories.LegacyFactory(owner=owner).pk
    for table, row in (("facts_legacyfact", fact), ("conversations_message", message)):
        assert "keeps its person" in refused(f"UPDATE {table} SET {column} = %s WHERE id = %s", other, row.pk)
        run(f"UPDATE {table} SET {column} = {column} WHERE id = %s", row.pk)
    refused("UPDATE conversations_message SET legacy_id = NULL WHERE id = %s", message.pk)
    assert Message.objects.filter(pk=message.pk, user=owner, legacy=legacy).exists()


def test_what_is_held_back_has_a_date(fact):
    with pytest.raises(IntegrityError), transaction.atomic():
        LegacyFact.objects.filter(pk=fact.pk).update(state="quarantined", active_since=None)


def test_deleting_a_person_or_a_legacy_is_still_possible(fact, owner, legacy):
    run(EVIDENCE, fact.pk, message_of(owner, legacy).pk)
    with purging():
        legacy.delete()
        owner.delete()
    assert not LegacyFact.objects.exists()


class TestHistoryStays:
    @pytest.fixture
    def edited(self, fact, owner):
        actions.fact_edit(principal_for_person(owner.pk), fact.pk, content="Rosa kept hens.")
        return fact

    @pytest.mark.parametrize(
        "change",
        [
            "content = 'Rosa kept wolves.'",
            "category = 'habit'",
            "number = 7",
            "recorded_from = now() - interval '1 day'",
            "recorded_from_rev = 0",
            "written_by = 'somebody'",
            "actor_kind = 'staff'",
            "actor_id = 'x'",
        ],
    )
    @pytest.mark.parametrize("number", [1, 2])
    def test_no_version_is_rewritten(self, edited, change, number):
        with pytest.raises(Error, match="history"), transaction.atomic():
            run(f"UPDATE facts_factversion SET {change} WHERE fact_id = %s AND number = %s", edited.pk, number)

    @pytest.mark.parametrize("change", ["recorded_to = now() + interval '1 day'", "recorded_to_rev = 99"])
    def test_nor_is_the_end_of_one_that_has_ended(self, edited, change):
        with pytest.raises(Error, match="history"), transaction.atomic():
            run(f"UPDATE facts_factversion SET {change} WHERE fact_id = %s AND number = 1", edited.pk)

    def test_numbers_have_no_holes(self, edited):
        row = FactVersion.objects.get(fact=edited, number=2)
        row.pk, row.number = None, 4
        with pytest.raises(Error, match="hole"), transaction.atomic():
            row.save(force_insert=True)

    def test_each_says_from_which_revision_to_which_it_held(self, edited):
        first, second = FactVersion.objects.filter(fact=edited).order_by("number")
        assert first.recorded_from_rev < first.recorded_to_rev == second.recorded_from_rev
        assert first.recorded_to == second.recorded_from
        assert (second.recorded_to, second.recorded_to_rev) == (None, None)

    def test_nothing_is_deleted_but_by_a_purge(self, edited):
        with pytest.raises(Error, match="purge"), transaction.atomic():
            LegacyFact.objects.filter(pk=edited.pk).delete()
        with purging():
            LegacyFact.objects.filter(pk=edited.pk).delete()
        assert not FactVersion.objects.exists()

    def test_leave_to_purge_ends_with_it(self, edited, owner, legacy):
        other = factories.LegacyFactFactory(legacy=legacy, user=owner)
        with purging():
            edited.delete()
        with pytest.raises(Error, match="purge"), transaction.atomic():
            other.delete()
