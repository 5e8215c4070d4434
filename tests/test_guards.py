"""Every guard that was written by hand, for Django's models can't declare it, is tried by a test."""

import ast
from pathlib import Path

import pytest
from django.db import connection

TESTS = Path(__file__).parent
TRIED_BY = {
    "accounts_user_ledger": "journal/test_ledger.py test_a_person_inserted_by_raw_sql_has_one",
    "accounts_legacy_ledger": "journal/test_ledger.py test_a_legacy_inserted_by_raw_sql_has_one",
    "accounts_user_ledger_gone": "journal/test_ledger.py test_whoever_goes_takes_it_along",
    "accounts_legacy_ledger_gone": "journal/test_ledger.py test_whoever_goes_takes_it_along",
    "accounts_user_has_ledger": "journal/test_ledger.py test_no_id_changes_away_from_it",
    "accounts_legacy_has_ledger": "journal/test_ledger.py test_no_id_changes_away_from_it",
    "message_of_conversation_and_user": "conversations/test_guards.py test_a_message_is_of_its_conversation_s_person",
    "chunk_of_conversation_and_user": "conversations/test_guards.py test_a_summary_is_of_its_conversation_s_person",
    "message_keeps_its_person": "facts/test_guards.py test_facts_and_messages_never_change_hands",
    "fact_keeps_its_person": "facts/test_guards.py test_facts_and_messages_never_change_hands",
    "fact_evidence_of_its_person": "facts/test_guards.py test_evidence_is_a_message_of_the_fact_s_person",
    "facts_version_guard": "facts/test_guards.py test_no_version_is_rewritten",
    "fact_link_within_a_legacy": "facts/test_guards.py test_a_link_stays_within_a_legacy",
    "undo_step_of_ledger": "memories/test_undo.py test_it_goes_with_its_person",
    "memories_version_guard": "memories/test_guards.py test_no_version_is_rewritten",
    "memory_version_of_memory_and_user": "memories/test_guards.py test_a_memory_can_not_change_hands",
    "relation_from_memory_of_user": "memories/test_guards.py test_a_relation_stays_within_one_person",
    "relation_to_memory_of_user": "memories/test_guards.py test_a_relation_stays_within_one_person",
    "proposal_for_memory_of_user": "memories/test_guards.py test_a_proposal_is_about_the_persons_own",
    "memory_plan_item_of_plan_and_user": "memories/test_optimizing.py test_a_plan_stays_within_its_person",
    "memory_plan_item_merged_of_user": "memories/test_optimizing.py test_a_plan_stays_within_its_person",
    "memory_plan_source_of_item_and_user": "memories/test_optimizing.py test_a_plan_stays_within_its_person",
    "memory_plan_source_memory_of_user": "memories/test_optimizing.py test_a_plan_stays_within_its_person",
}
# Django names the foreign keys that it makes after what they point to.
BY_HAND = """
SELECT tgname::text FROM pg_trigger WHERE NOT tgisinternal
UNION SELECT conname::text FROM pg_constraint
    WHERE connamespace = 'public'::regnamespace AND contype = 'f' AND conname !~ '_fk_'
"""


@pytest.mark.django_db
def test_every_guard_written_by_hand_is_tried():
    with connection.cursor() as cursor:
        cursor.execute(BY_HAND)
        assert {name for (name,) in cursor.fetchall()} == set(TRIED_BY)


@pytest.mark.parametrize("guard", TRIED_BY)
def test_the_test_that_tries_it_is_there(guard):
    file, name = TRIED_BY[guard].split()
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
