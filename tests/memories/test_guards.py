"""What the database itself refuses, whoever asks: crossing people, rewriting history, impossible states."""

import pytest
from django.db import Error, IntegrityError, connection, transaction

from accounts.queries import principal_for_person
from memories import actions
from memories.models import MEMORY, Memory, MemoryVersion, Proposal
from statements.actions import statements_purge
from tests import factories

from .state import check, versions

INSERT_VERSION = """
INSERT INTO memories_memoryversion (
    user_id, memory_id, number, kind, category, field, subject, topics, content, embedding_model, search_config,
    search_text, search_length, recorded_from, recorded_to, recorded_from_rev, recorded_to_rev, reason, written_by,
    actor_kind, actor_id
)
"""

pytestmark = pytest.mark.django_db


def run(statement, *values):
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, values)
        changed = cursor.rowcount
        # What is checked at the end of a transaction is checked here: that of the test never commits.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
        return changed


@pytest.fixture
def memory(me, add):
    memory = add(me, "The user keeps bees.").memory
    actions.memory_update(me, memory.pk, "The user keeps hens.")
    return memory


@pytest.fixture
def theirs(stranger, add):
    return add(principal_for_person(stranger.pk), "Somebody keeps bees.").memory


class TestPeopleStayApart:
    def test_a_version_can_not_be_given_to_somebody_elses_memory(self, owner, memory, theirs):
        with pytest.raises(IntegrityError):
            run(
                INSERT_VERSION
                + " SELECT %s, %s, 2, kind, category, field, subject, topics, content, embedding_model, search_config,"
                " search_text, search_length, recorded_from, now(), 1, 2, '', '', 'person', '' FROM"
                " memories_memoryversion WHERE memory_id = %s AND number = 1",
                owner.pk,
                theirs.pk,
                memory.pk,
            )

    def test_a_memory_can_not_change_hands(self, stranger, memory):
        with pytest.raises(IntegrityError):
            run("UPDATE memories_memory SET user_id = %s WHERE id = %s", stranger.pk, memory.pk)

    def test_nor_its_id(self, memory):
        with pytest.raises(IntegrityError):
            run("UPDATE memories_memory SET id = 'newId123' WHERE id = %s", memory.pk)

    @pytest.mark.parametrize("whose", ["owner", "stranger"])
    def test_a_relation_stays_within_one_person(self, memory, theirs, whose, request):
        person = request.getfixturevalue(whose)
        with pytest.raises(IntegrityError):
            run(
                "INSERT INTO memories_relation (id, user_id, from_memory_id, to_memory_id, type, strength, created_at)"
                " VALUES (gen_random_uuid(), %s, %s, %s, 'related_to', 1, now())",
                person.pk,
                memory.pk,
                theirs.pk,
            )

    def test_a_proposal_is_about_the_persons_own(self, owner, theirs):
        with pytest.raises(IntegrityError):
            run(
                "INSERT INTO memories_proposal (id, user_id, kind, memory_id, values, written_by, state, created_at,"
                " expires_at) VALUES (gen_random_uuid(), %s, 'archive', %s, '{}', '', 'waiting', now(), now())",
                owner.pk,
                theirs.pk,
            )


class TestHistoryStays:
    @pytest.mark.parametrize(
        "change",
        [
            "content = 'The user keeps wolves.'",
            "category = 'goals'",
            "subject = 'Wolves'",
            "topics = ARRAY['wolves']",
            "kind = 'insight'",
            "field = 'city'",
            "number = 7",
            "valid_from = now()",
            "recorded_from = now() - interval '1 day'",
            "recorded_from_rev = 0",
            "reason = 'because'",
            "written_by = 'somebody'",
            "actor_kind = 'staff'",
            "actor_id = 'x'",
            "user_id = gen_random_uuid()",
        ],
    )
    @pytest.mark.parametrize("number", [1, 2])
    def test_no_version_is_rewritten(self, owner, memory, change, number):
        with pytest.raises(Error, match="history"):
            run(f"UPDATE memories_memoryversion SET {change} WHERE memory_id = %s AND number = %s", memory.pk, number)
        check(owner)

    @pytest.mark.parametrize("change", ["recorded_to = now()", "recorded_to_rev = 99", "recorded_to = NULL"])
    def test_nor_is_the_end_of_one_that_has_ended(self, owner, memory, change):
        with pytest.raises(Error):
            run(f"UPDATE memories_memoryversion SET {change} WHERE memory_id = %s AND number = 1", memory.pk)
        check(owner)

    def test_a_vector_may_come_later(self, memory):
        changed = "UPDATE memories_memoryversion SET embedding = '[1,2]', embedding_model = 'm' WHERE memory_id = %s"
        assert run(changed, memory.pk) == 2

    def test_a_conversation_may_go(self, me, owner, memory):
        talk = factories.ConversationFactory(user=owner)
        actions.memory_update(me, memory.pk, "The user keeps geese.", conversation_id=talk.pk)
        talk.delete()
        assert versions(memory)[2].source_conversation_id is None

    @pytest.mark.parametrize("statement", ["DELETE FROM memories_memoryversion", "DELETE FROM memories_memory"])
    def test_nothing_is_deleted_but_by_a_purge(self, owner, memory, statement):
        with pytest.raises(Error):
            run(statement)
        with pytest.raises(Error, match="purge"), transaction.atomic():
            Memory.objects.filter(pk=memory.pk).delete()
        check(owner)

    def test_leave_to_purge_ends_with_it(self, me, owner, memory, add):
        from django.utils import timezone

        actions.memory_archive(me, memory.pk)
        Memory.objects.update(purge_at=timezone.now())
        assert statements_purge(MEMORY) == 1
        other = add(me, "The user keeps geese.").memory
        with pytest.raises(Error, match="purge"):
            run("DELETE FROM memories_memoryversion WHERE memory_id = %s", other.pk)

    @pytest.mark.parametrize("number", [2, 4, 0])
    def test_numbers_have_no_holes(self, owner, memory, number):
        with pytest.raises(Error):
            run(
                INSERT_VERSION
                + " SELECT user_id, memory_id, %s, kind, category, field, subject, topics, content, '', search_config,"
                " search_text, search_length, now() - interval '1 hour', now(), 7, 8, '', '', 'person', '' FROM"
                " memories_memoryversion WHERE memory_id = %s AND number = 1",
                number,
                memory.pk,
            )
        check(owner)


class TestStates:
    @pytest.mark.parametrize(
        "change",
        [
            "state = 'forgotten'",
            "state = 'archived'",
            "deleted_at = now()",
            "active_rev = NULL",
            "state = 'proposed'",
            "importance = 6",
            "content = 'bees'",
            "content = repeat('b', 501)",
            "embedding = NULL, embedding_model = ''",
            "embedding_model = ''",
            "valid_from = now(), valid_to = now() - interval '1 day'",
            "kind = 'dream'",
        ],
    )
    def test_impossible_ones_are_refused(self, memory, change):
        with pytest.raises(IntegrityError):
            run(f"UPDATE memories_memory SET {change} WHERE id = %s", memory.pk)

    def test_a_field_has_one_value_at_a_time(self, me, add):
        first = add(me, "The user lives in Lisbon.", field="city").memory
        add(me, "The user lives in Porto.", field="city")
        with pytest.raises(IntegrityError):
            run(
                "UPDATE memories_memory SET state = 'active', active_rev = 9, deleted_at = NULL, purge_at = NULL,"
                " deleted_why = '' WHERE id = %s",
                first.pk,
            )

    def test_a_proposal_that_ended_holds_no_text(self, me, cautious, memory):
        proposal = actions.memory_update(cautious, memory.pk, "The user keeps geese.").proposal
        with pytest.raises(IntegrityError):
            run("UPDATE memories_proposal SET state = 'lapsed', decided_at = now() WHERE id = %s", proposal.pk)

    def test_a_memory_waits_in_one_proposal(self, cautious, owner, add):
        waiting = add(cautious, "The user keeps geese.").memory
        with pytest.raises(IntegrityError):
            Proposal.objects.create(
                user=owner, kind="create", memory=waiting, expires_at=Proposal.objects.get().expires_at
            )

    def test_a_version_follows_one_that_ended(self, memory):
        row = versions(memory)[1]
        row.pk, row.number = None, 3
        with pytest.raises(IntegrityError), transaction.atomic():
            row.save(force_insert=True)
        assert MemoryVersion.objects.filter(memory=memory).count() == 2
