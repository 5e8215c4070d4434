"""The demo: everything in it went through the pipeline, every state can be seen, loading it again changes nothing."""

from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import F
from django.test import Client, override_settings
from django.utils import timezone

from accounts.models import Agent, AgentKey, Legacy, User
from accounts.queries import principal_for_person
from assistant import demo
from assistant.demo import loading
from assistant.demo.content import read_content
from conversations.models import Conversation, ConversationChunk, Message
from facts.models import FactEvidence, FactLink, LegacyFact
from journal.exceptions import Unavailable
from journal.models import Ledger
from memories.actions import proposal_reject
from memories.models import MEMORY, Memory, Place, PlaceMention, Proposal
from statements.actions import statements_purge
from tests.factories import ConversationFactory, UserFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def _hashed_vectors(django_test_environment):
    # Hashed words of statements that contradict each other are less near than what they mean.
    with override_settings(KEEPSAKE_EMBEDDER="hashing", FACT_RELATED_SIMILARITY=0.5):
        yield


@pytest.fixture(scope="class")
def loaded(django_db_setup, django_db_blocker):
    """The demo, loaded once for a class of tests, each of which takes back what it changed; and what was printed."""
    around = transaction.atomic()
    around._from_testcase = True  # As Django marks the transactions that a test has around it.
    with django_db_blocker.unblock(), around:
        printed = StringIO()
        call_command("seed_demo", "--if-empty", stdout=printed)
        yield SimpleNamespace(content=read_content(), printed=printed.getvalue())
        transaction.set_rollback(True)


def snapshot():
    tables = (
        User,
        Legacy,
        Agent,
        AgentKey,
        Conversation,
        Message,
        ConversationChunk,
        LegacyFact,
        FactEvidence,
        FactLink,
        Memory,
        Place,
        PlaceMention,
        Proposal,
    )
    return [table.objects.count() for table in tables], list(Ledger.objects.order_by("pk").values_list("pk", "rev"))


class TestWhatWasLoaded:
    def test_the_demo_went_through_the_pipeline(self, loaded):
        legacy = Legacy.objects.get()
        assert {member.user.username: member.role for member in legacy.memberships.select_related("user")} == {
            "maria": "owner", "tom": "member", "ines": "member"
        }  # fmt: skip
        agent = Agent.objects.get()
        conversations = list(Conversation.objects.select_related("user"))
        assert sorted(each.user.username for each in conversations) == ["maria", "maria", "tom"]
        for conversation in conversations:
            assert conversation.legacy == legacy
            assert conversation.agent == agent
            assert conversation.message_count > 30
            assert conversation.summarized_upto == conversation.message_count
            ranges = conversation.chunks.order_by("message_range_start")
            assert [(each.message_range_start, each.message_range_end) for each in ranges] == [
                (0, 20), (20, conversation.message_count)
            ]  # fmt: skip
        times = list(Message.objects.order_by("conversation", "index").values_list("conversation", "at"))
        assert times == sorted(times)
        assert not Message.objects.filter(embedding=None).exists()
        assert not LegacyFact.objects.unindexed(timezone.now()).exists()
        for evidence in FactEvidence.objects.select_related("message", "fact"):
            assert evidence.message.role == "user"
            assert evidence.message.user_id == evidence.fact.user_id
            assert evidence.quote in evidence.message.content
        assert {fact.written_by for fact in LegacyFact.objects.filter(version=1)} == {"offline rules 1"}
        assert AgentKey.objects.get().revoked_at is not None

    def test_every_state_of_a_fact_can_be_seen(self, loaded):
        facts = LegacyFact.objects.all()
        assert set(facts.values_list("category", flat=True)) == set(LegacyFact.Category.values)
        assert set(facts.values_list("state", flat=True)) == set(LegacyFact.State.values) - {"quarantined"}
        for name in ("maria", "tom"):
            own = facts.filter(user__username=name)
            assert own.filter(visibility="shared").count() >= 3
            assert own.filter(state__in=["active", "proposed"], reviewed_at=None).count() >= 5
            assert own.filter(state="active", visibility="private").exclude(reviewed_at=None).exists()
        assert facts.filter(version=2, written_by="").exists()
        assert facts.filter(state="rejected").exclude(state_reason="").exists()
        assert facts.filter(state="hidden").exclude(state_reason="").exists()
        assert facts.filter(content__contains=" not ").exists()
        assert any(fact.evidence.values("message__conversation").distinct().count() == 2 for fact in facts)
        links = FactLink.objects.filter(kind="contradicts").select_related("from_fact", "to_fact")
        assert {link.from_fact.user_id == link.to_fact.user_id for link in links} == {True, False}
        ines = principal_for_person(User.objects.get(username="ines").pk)
        assert set(facts.visible_to(ines)) == set(facts.filter(visibility="shared"))
        for decision in loaded.content.decisions:
            found = facts.filter(user__username=decision.person)
            for word in decision.words:
                found = found.filter(versions__number=1, versions__content__icontains=word)
            assert found.count() == 1, decision

    def test_what_the_agent_remembers_can_be_seen_in_every_way(self, loaded):
        memories = Memory.objects.filter(agent=Agent.objects.get())
        assert memories.count() == len(loaded.content.memories)
        assert not memories.filter(embedding=None).exclude(state="rejected").exists()
        maria = memories.filter(user__username="maria")
        assert {"active", "proposed", "archived", "rejected"} <= set(maria.values_list("state", flat=True))
        assert maria.filter(state="active", in_block=True).values("category").distinct().count() >= 5
        assert maria.filter(state="active", in_block=False).values("category").distinct().count() >= 2
        assert maria.get(version=3).versions.count() == 3
        assert maria.filter(pinned=True).exists()
        assert maria.filter(state="active", reviewed_at=None).exists()
        assert maria.get(external_id="viana-photograph").needs_check  # It may say the same as another.
        assert maria.filter(versions__evidence__message__role="user").exists()
        # Nothing is used of Tom's before he approves it.
        tom = memories.filter(user__username="tom")
        assert {memory.reviewed_at is not None for memory in tom.filter(state="active")} == {True}
        assert tom.filter(state="proposed").exists()

    def test_something_of_each_kind_waits(self, loaded):
        for name, kinds in (("maria", {"create", "update"}), ("tom", {"archive", "create", "place", "update"})):
            waiting = Proposal.objects.waiting().filter(user__username=name)
            assert set(waiting.values_list("kind", flat=True)) == kinds
        maria = Place.objects.filter(user__username="maria")
        assert maria.present().count() == 2
        assert maria.exclude(deleted_at=None).count() == 1
        assert maria.get(name="Nazaré").mentions.count() == 2

    def test_what_a_person_refused_of_a_place_stays_away(self, loaded):
        tom = principal_for_person(User.objects.get(username="tom").pk)
        waiting = (
            Proposal.objects.waiting().filter(user_id=tom.user_id, kind="place", values__place_id="chess-club").get()
        )
        proposal_reject(tom, waiting.pk)
        Proposal.objects.filter(pk=waiting.pk).update(values={})
        before = Place.objects.count(), Proposal.objects.count()
        demo.demo_load()
        assert (Place.objects.count(), Proposal.objects.count()) == before

    def test_loading_it_again_changes_nothing(self, loaded):
        maria = principal_for_person(User.objects.get(username="maria").pk)
        shared = LegacyFact.objects.filter(user_id=maria.user_id, visibility="shared").first()
        loading.facts.fact_set_visibility(maria, shared.pk, "private")
        before = snapshot()
        demo.demo_load()
        assert snapshot() == before
        shared.refresh_from_db()
        assert shared.visibility == "private"

    def test_what_its_person_let_go_for_good_does_not_come_back(self, loaded):
        Memory.objects.filter(state__in=["archived", "rejected"]).update(purge_at=timezone.now())
        statements_purge(MEMORY)
        before = snapshot()
        demo.demo_load()
        assert snapshot() == before

    def test_the_command_prints_sign_ins_that_work(self, loaded, capsys):
        printed = loaded.printed
        assert "everybody knows these passwords" in printed
        assert "create_agent_key storyteller --user admin --service --issuer local" in printed
        lines = [line.split() for line in printed.splitlines() if line.startswith("  ") and "manage.py" not in line]
        assert [line[0] for line in lines] == ["maria", "tom", "admin"]
        for name, password, *_ in lines:
            client = Client()
            assert client.post("/sign-in/", {"username": name, "password": password}).url == "/"
            assert client.get("/").status_code == 200
        page = Client().get("/sign-in/").content.decode()
        assert "Demo data is loaded" in page
        assert "keepsake-demo" not in page
        staff = Client()
        staff.force_login(User.objects.get(username="admin"))
        hint = staff.get("/").content.decode()
        assert "demo data is loaded" in hint
        assert "<code>maria</code> or <code>tom</code>." in hint
        assert staff.get("/admin/").status_code == 200
        call_command("seed_demo", "--if-empty")
        assert capsys.readouterr().out == printed


def test_a_load_that_was_cut_short_is_finished_beside_real_people(monkeypatch, capsys):
    UserFactory(username="somebody")

    def cut(conversation_id):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(loading, "maybe_summarize", cut)
        with pytest.raises(KeyboardInterrupt):
            demo.demo_load()
    assert not LegacyFact.objects.exists()
    call_command("seed_demo")
    assert "maria" in capsys.readouterr().out
    assert Message.objects.count() == sum(len(talk.said) for talk in read_content().conversations)
    assert not Conversation.objects.filter(summarized_upto__lt=F("message_count")).exists()
    assert not AgentKey.objects.filter(revoked_at=None).exists()


def test_a_batch_that_a_worker_holds_is_waited_for(owner, monkeypatch):
    conversation = ConversationFactory(user=owner)
    Conversation.objects.update(message_count=38, summarized_upto=20)
    waited = []

    def elsewhere(seconds):
        waited.append(seconds)
        if len(waited) == 3:
            Conversation.objects.filter(pk=conversation.pk).update(summarized_upto=38)

    monkeypatch.setattr(loading, "maybe_summarize", lambda conversation_id: 0)
    monkeypatch.setattr(loading.time, "sleep", elsewhere)
    loading._wait_until_processed(conversation.pk)
    assert len(waited) == 3
    monkeypatch.setattr(loading, "PROCESSING_SECONDS", 0)
    monkeypatch.setattr(loading.time, "sleep", waited.append)
    Conversation.objects.filter(pk=conversation.pk).update(summarized_upto=20)
    with pytest.raises(Unavailable):
        loading._wait_until_processed(conversation.pk)


# --- The command ------------------------------------------------------------------------------------------------


def test_if_loaded_puts_no_known_password_into_a_database(capsys):
    call_command("seed_demo", "--if-loaded")
    assert "The demo was not loaded: everybody knows its passwords" in capsys.readouterr().out
    assert not User.objects.exists()
    loading._found(read_content())
    call_command("seed_demo", "--if-loaded")
    assert "maria" in capsys.readouterr().out
    assert not Conversation.objects.exists()


def test_if_empty_leaves_people_alone(capsys):
    UserFactory(username="somebody")
    call_command("seed_demo", "--if-empty")
    assert capsys.readouterr().out == "There are people here already, so the demo was not loaded.\n"
    assert User.objects.count() == 1


@pytest.mark.parametrize("name", ["maria", "tom", "ines", "admin"])
def test_a_name_that_is_taken_stops_it_before_anything_is_made(name):
    UserFactory(username=name, password="my own")
    with pytest.raises(CommandError, match=f"The user name {name} is taken"):
        call_command("seed_demo")
    assert User.objects.get().check_password("my own")
    assert not Legacy.objects.exists()
