"""What the database itself refuses: evidence of somebody else, links across legacies, rows that change hands."""

import pytest
from django.db import IntegrityError, connection, transaction

from conversations.models import Message
from facts.models import FactEvidence, FactLink, LegacyFact
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
    legacy.delete()
    owner.delete()
    assert not LegacyFact.objects.exists()
