"""What the person worded, corrected or pinned is not changed by an agent before they agree (issue 14, A1 and B8)."""

from dataclasses import replace

import pytest

from assistant.learn import summarizing
from conversations.actions import NewMessage, conversation_create, messages_append
from journal.exceptions import NotYoursToDecide
from journal.models import Change
from journal.undo import undo
from memories.actions import (
    memories_delete,
    memory_add,
    memory_approve,
    memory_archive,
    memory_pin,
    memory_restore,
    memory_update,
    proposal_approve,
)
from memories.models import Memory, Proposal
from memories.records import KEPT, RELAYED, NewMemory
from tests.assistant.extracting import delete, update
from tests.factories import PreferencesFactory, agent_principal, rev_of

pytestmark = pytest.mark.django_db

SPOUSE, SISTER = "The user is Ines's spouse.", "The user is Ines's sister."


@pytest.fixture
def backend(service, owner):
    return agent_principal(service, owner, scopes=("read", "write", "admin"))


@pytest.fixture
def corrected(bot, me):
    """What an agent wrote and the person corrected."""
    memory = memory_add(bot, NewMemory(SPOUSE, "person")).memory
    return memory_update(me, memory.pk, SISTER, correction=True).memory


def path(memory, *more):
    return "/".join(["/api/v1/memories", memory.pk, *more, ""])


def stands(memory, content=SISTER, reason=KEPT):
    """Whether it is still so, and one proposal waits that says why."""
    memory.refresh_from_db()
    assert (memory.content, memory.state) == (content, "active")
    return list(Proposal.objects.waiting().values_list("reason", flat=True)) == [reason]


@pytest.mark.parametrize("review", ["after", "before"])
@pytest.mark.parametrize("more", [{}, {"verbatim": True}, {"correction": True}])
def test_an_agents_rewording_of_a_correction_waits(api, agent, owner, corrected, review, more):
    PreferencesFactory(user=owner, review=review)
    answer = api(agent).put(path(corrected), {"content": "Ines is the user's cousin.", **more}, format="json")
    assert answer.status_code == 202
    assert stands(corrected)


def test_so_does_a_tools(api, agent, corrected):
    sent = {"arguments": {"memory_id": corrected.pk, "content": "Ines is the user's cousin."}}
    assert api(agent).post("/api/v1/tools/update_memory/", sent, format="json").json()["ok"]
    assert stands(corrected)


def test_so_does_a_service_keys_that_decides_for_the_person_until_it_approves_it(backend, corrected):
    proposal = memory_update(backend, corrected.pk, "Ines is the user's cousin.").proposal
    assert stands(corrected)
    proposal_approve(backend, proposal.pk)
    corrected.refresh_from_db()
    assert corrected.content == "Ines is the user's cousin."


def test_an_agent_does_not_undo_its_proposal_once_it_is_approved(bot, me, corrected):
    proposal = memory_update(bot, corrected.pk, "Ines is the user's cousin.").proposal
    at = Change.objects.filter(object_id=str(proposal.pk)).latest("rev").rev
    proposal_approve(me, proposal.pk)
    assert [each.why for each in undo(bot, at, at).left] == ["built_on"]
    proposal.refresh_from_db()
    assert proposal.state == "approved"


def test_an_agents_own_wording_it_changes_at_once(bot):
    memory = memory_add(bot, NewMemory("The user plays the cello.", "context")).memory
    assert memory_update(bot, memory.pk, "The user plays the viola.").proposal is None
    assert memory_archive(bot, memory.pk).proposal is None


def test_what_is_approved_with_other_words_is_the_persons_wording(bot, me):
    memory = memory_add(replace(bot, review="before"), NewMemory(SPOUSE, "person")).memory
    memory_approve(me, memory.pk, content=SISTER)
    assert memory_update(bot, memory.pk, "Ines is the user's cousin.").proposal
    assert stands(memory)


def test_what_is_pinned_waits_whoever_worded_it(api, agent, me, bot):
    memory = memory_add(bot, NewMemory("The user is allergic to peanuts.", "constraints")).memory
    memory_pin(me, memory.pk, True)
    assert api(agent).post(path(memory, "pin"), {"pinned": False}, format="json").status_code == 403
    answer = api(agent).put(path(memory), {"content": "The user eats peanuts daily."}, format="json")
    assert answer.status_code == 202
    assert stands(memory, "The user is allergic to peanuts.")


@pytest.mark.parametrize("at_once", [True, False])
def test_an_agent_changes_and_unpins_what_it_pinned_itself(bot, me, at_once):
    memory = memory_add(bot, NewMemory("The user is allergic to peanuts.", "constraints", pinned=at_once)).memory
    memory_pin(bot, memory.pk, True)
    assert memory_update(bot, memory.pk, "The user is allergic to all nuts.").proposal is None
    assert not memory_pin(bot, memory.pk, False).pinned
    memory_pin(me, memory.pk, True)
    with pytest.raises(NotYoursToDecide):
        memory_pin(bot, memory.pk, False)
    assert not memory_pin(me, memory.pk, False).pinned


def test_an_agents_archive_waits_and_takes_it_away_once_approved(api, agent, me, corrected):
    assert api(agent).delete(path(corrected)).status_code == 202
    assert stands(corrected)
    proposal_approve(me, Proposal.objects.get().pk)
    corrected.refresh_from_db()
    assert corrected.state == "archived"
    assert memory_restore(me, corrected.pk).state == "active"


def test_so_does_one_of_many(bot, corrected):
    other = memory_add(bot, NewMemory("The user plays the cello.", "context")).memory
    outcomes = [each.outcome for each in memories_delete(bot, [corrected.pk, other.pk])]
    assert outcomes == ["proposed", "archived"]
    assert stands(corrected)


@pytest.mark.parametrize("filing", [{"subject": "Tom"}, {"expires_at": "2099-01-01T00:00:00Z"}])
def test_so_does_what_stands_beside_it(api, agent, corrected, filing):
    assert api(agent).patch(path(corrected), filing, format="json").status_code == 202
    assert stands(corrected)


def test_what_an_agent_adds_replaces_it_only_after_approval(bot, me, settings):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    married = memory_add(me, NewMemory("The user is married to Tom.", "context")).memory
    new = memory_add(bot, NewMemory("The user got divorced from Tom.", "context"))
    assert (new.outcome, new.memory.state_reason) == ("proposed", KEPT)
    married.refresh_from_db()
    assert married.state == "active"
    approved = memory_approve(me, new.memory.pk)
    married.refresh_from_db()
    assert (married.deleted_why, approved.state, approved.state_reason) == ("replaced", "active", "")


def test_an_agent_leaves_its_proposal_alone_once_the_person_pinned_or_worded_it(bot, me):
    cautious = replace(bot, review="before")
    pinned, worded, own = (
        memory_add(cautious, NewMemory(f"The user plays the {what}.", "interests")).memory
        for what in ("cello", "flute", "harp")
    )
    memory_pin(me, pinned.pk, True)
    memory_update(me, worded.pk, "The user plays the alto flute.")
    for memory in (pinned, worded):
        with pytest.raises(NotYoursToDecide):
            memory_update(cautious, memory.pk, "The user plays the drums.")
        with pytest.raises(NotYoursToDecide):
            memory_archive(cautious, memory.pk)
    assert [each.outcome for each in memories_delete(cautious, [pinned.pk, own.pk])] == ["skipped", "archived"]
    assert {*Memory.objects.filter(state="proposed").values_list("pk", flat=True)} == {pinned.pk, worded.pk}


def test_proposals_say_why_a_new_memory_waits(api, agent):
    added = api(agent).post("/api/v1/memories/", {"content": "The user's name is Bobby.", "category": "context"})
    (shown,) = api(agent).get("/api/v1/proposals/").json()["results"]
    assert (added.status_code, shown["kind"], shown["reason"]) == (202, "create", added.json()["state_reason"])


@pytest.mark.parametrize("insist", [False, True])
@pytest.mark.parametrize("denial", ["The user no longer skis in Davos.", "The user never skis in Davos."])
def test_an_agents_denial_waits_even_if_it_insists(bot, me, settings, insist, denial):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    mine = memory_add(me, NewMemory("The user skis in Davos each winter.", "interests")).memory
    denied = memory_add(bot, NewMemory(denial, "interests"), insist=insist).memory
    mine.refresh_from_db()
    assert (mine.state, denied.state, denied.state_reason) == ("active", "proposed", KEPT)
    assert memory_add(me, NewMemory(denial, "interests"), insist=insist).memory.state == "active"


@pytest.mark.parametrize("denial", ["The user no longer skis in Davos.", "The user never skis in Davos."])
def test_what_an_approved_wording_denies_ends_and_comes_back_with_undo(owner, bot, me, settings, denial):
    settings.KEEPSAKE_EMBEDDER = "bundled"
    mine = memory_add(me, NewMemory("The user skis in Davos each winter.", "interests")).memory
    theirs = memory_add(bot, NewMemory("The user likes snow.", "interests")).memory
    proposal = memory_update(bot, theirs.pk, denial).proposal
    assert proposal.reason == KEPT
    before = rev_of(owner)
    proposal_approve(me, proposal.pk)
    mine.refresh_from_db()
    assert (mine.state, mine.deleted_why) == ("archived", "replaced")
    undo(me, before + 1, rev_of(owner))
    mine.refresh_from_db()
    theirs.refresh_from_db()
    assert (mine.state, theirs.content) == ("active", "The user likes snow.")


class TestInTalk:
    @pytest.fixture
    def tell(self, bot, corrected, model):
        """``tell(by, call, in_turn)``: say it in the agent's talk, and return the memory after extraction."""

        def said(by, call, *, in_turn):
            talk = conversation_create(bot)
            messages_append(by, talk.pk, [NewMessage("user", "I married Ines again.")], in_turn=in_turn)
            model.calls([call])
            summarizing.conversation_finish(bot, talk.pk)
            summarizing.maybe_summarize(talk.pk)
            return Memory.objects.get(pk=corrected.pk)

        return said

    @pytest.mark.parametrize(("call", "reason"), [(update, KEPT), (delete, RELAYED)])
    @pytest.mark.parametrize("in_turn", [False, True])
    def test_what_an_agent_stores_or_relays_waits(self, tell, bot, corrected, call, reason, in_turn):
        more = ["The user married Ines again."] if call is update else []
        tell(bot, call(corrected, *more, quote="married Ines again", explicit=True), in_turn=in_turn)
        assert stands(corrected, reason=reason)

    def test_so_does_what_it_relays_about_something_pinned(self, me, bot, tell, corrected):
        memory = memory_add(bot, NewMemory("The user plays the cello.", "context")).memory
        memory_pin(me, memory.pk, True)
        tell(bot, update(memory, "The user married Ines again.", quote="married Ines again"), in_turn=True)
        assert stands(memory, "The user plays the cello.")

    def test_what_the_person_says_themselves_applies_at_once(self, me, tell, corrected):
        call = update(corrected, "The user married Ines again.", quote="married Ines again")
        memory = tell(me, call, in_turn=True)
        assert memory.content == "The user married Ines again."

    @pytest.mark.parametrize("approves", [False, True])
    def test_what_their_chat_reworded_since_still_waits(self, tell, me, bot, corrected, approves):
        told = "The user married Ines again."
        memory = tell(me, update(corrected, told, quote="married Ines again"), in_turn=True)
        assert memory.written_by
        if approves:
            memory_approve(me, memory.pk)
        memory_update(bot, memory.pk, "Ines is the user's cousin.")
        memory_archive(bot, memory.pk)
        memory.refresh_from_db()
        assert (memory.content, memory.state) == (told, "active")
        assert [*Proposal.objects.waiting().values_list("reason", flat=True)] == [KEPT, KEPT]
