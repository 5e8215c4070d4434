"""Sharing, reviewing, rejecting, deleting, restoring, hiding: what each does to the fact, its legacy and its future."""

import pytest
from django.utils import timezone

from accounts.queries import principal_for_person, principal_for_staff
from facts import actions
from facts.models import LegacyFact
from journal.exceptions import Conflict, NotAllowed, NotFound, NotYoursToDecide, Refused
from journal.models import Change
from statements.models import Suppression
from statements.policy.resembling import RESEMBLES
from tests import factories

from .conftest import contents, facts_url, now, rev, url


def as_person(person):
    return principal_for_person(person.pk)


class TestVisibility:
    def test_a_shares_and_b_sees(self, api, add, owner, member, legacy):
        fact = add(owner, legacy)
        assert contents(api(member).get(facts_url(legacy))) == []
        assert api(owner).patch(url(fact, "visibility/"), {"visibility": "shared"}).status_code == 200
        (shown,) = api(member).get(facts_url(legacy)).json()["results"]
        assert (shown["content"], shown["mine"], shown["author"]) == (fact.content, False, "Olga Owner")
        assert shown == api(member).get(url(fact)).json()

    def test_a_s_private_facts_are_hidden_from_b(self, api, add, owner, member, legacy):
        add(owner, legacy)
        for query in ["", "?state=all", "?visibility=private", "?search=bread", "?mine=false"]:
            assert contents(api(member).get(facts_url(legacy, query))) == []

    def test_a_unshares_and_b_no_longer_sees(self, api, shared, owner, member, legacy):
        fact = shared(owner, legacy)
        assert api(member).get(url(fact)).status_code == 200
        api(owner).patch(url(fact, "visibility/"), {"visibility": "private"})
        assert api(member).get(url(fact)).status_code == 404
        assert contents(api(member).get(facts_url(legacy))) == []
        assert now(fact).shared_since is None

    def test_a_shared_fact_shows_nothing_of_the_conversation_it_comes_from(self, api, extract, owner, member, legacy):
        (fact,) = extract(owner, legacy, "Rosa kept bees.")
        api(owner).patch(url(fact, "visibility/"), {"visibility": "shared"})
        mine, theirs = (api(person).get(url(fact)).json() for person in (owner, member))
        assert (mine["quote"], mine["source_index"]) == ("Rosa kept bees.", 0)
        for shown in (theirs, api(member).get(facts_url(legacy)).json()["results"][0]):
            assert [shown[name] for name in ("quote", "source_conversation", "source_index", "evidence")] == [
                None,
                None,
                None,
                [],
            ]
        assert theirs["written_by"] == "offline rules 1"

    def test_sharing_counts_as_reviewing(self, api, extract, owner, legacy):
        (fact,) = extract(owner, legacy, "Rosa kept bees.")
        shown = api(owner).patch(url(fact, "visibility/"), {"visibility": "shared"}).json()
        assert shown["reviewed_at"]
        assert now(fact).shared_since

    def test_sharing_what_is_shared_changes_nothing(self, api, shared, owner, legacy):
        fact = shared(owner, legacy)
        before = rev(owner), rev(legacy)
        assert api(owner).patch(url(fact, "visibility/"), {"visibility": "shared"}).status_code == 200
        assert (rev(owner), rev(legacy)) == before

    @pytest.mark.parametrize("leave", ["delete", "reject"])
    def test_only_an_active_fact_is_shared(self, api, add, owner, legacy, leave):
        fact = add(owner, legacy)
        getattr(actions, f"fact_{leave}")(as_person(owner), fact.pk)
        answer = api(owner).patch(url(fact, "visibility/"), {"visibility": "shared"})
        assert (answer.status_code, answer.json()["code"]) == (409, "wrong_state")

    @pytest.mark.parametrize("body", [{}, {"visibility": "public"}, {"visibility": None}])
    def test_a_wrong_body_changes_nothing(self, api, add, owner, legacy, body):
        fact = add(owner, legacy)
        assert api(owner).patch(url(fact, "visibility/"), body).status_code == 400
        with pytest.raises(Refused):
            actions.fact_set_visibility(as_person(owner), fact.pk, "public")
        assert now(fact).visibility == "private"


class TestTheLegacyMovesWithWhatIsShared:
    """Its revision is what caches of prompts are keyed by."""

    def test_a_private_fact_moves_its_author_only(self, add, owner, legacy):
        before = rev(legacy)
        fact = add(owner, legacy)
        actions.fact_edit(as_person(owner), fact.pk, content="Rosa kept bees.")
        actions.fact_delete(as_person(owner), fact.pk)
        actions.fact_restore(as_person(owner), fact.pk)
        assert rev(legacy) == before

    @pytest.mark.parametrize(
        ("change", "event"),
        [
            (lambda fact, staff: actions.fact_set_visibility(fact.me, fact.pk, "private"), "UNSHARE"),
            (lambda fact, staff: actions.fact_edit(fact.me, fact.pk, content="Rosa kept bees."), "UPDATE"),
            (lambda fact, staff: actions.fact_edit(fact.me, fact.pk, category="hobby"), "UPDATE"),
            (lambda fact, staff: actions.fact_delete(fact.me, fact.pk), "UNSHARE"),
            (lambda fact, staff: actions.fact_reject(fact.me, fact.pk), "UNSHARE"),
            (lambda fact, staff: actions.fact_hide(principal_for_staff(staff), fact.pk, "rude"), "UNSHARE"),
        ],
    )
    def test_a_shared_one_moves_the_legacy(self, shared, owner, staff, legacy, change, event):
        fact = shared(owner, legacy)
        fact.me = as_person(owner)
        before = rev(legacy), rev(owner)
        change(fact, staff)
        assert (rev(legacy), rev(owner)) == (before[0] + 1, before[1] + 1)
        assert Change.objects.get(ledger_id=legacy.pk, rev=before[0] + 1).event == event
        stored = now(fact)
        assert stored.visibility == ("shared" if event == "UPDATE" else "private")

    def test_sharing_moves_it(self, add, owner, legacy):
        fact, before = add(owner, legacy), rev(legacy)
        actions.fact_set_visibility(as_person(owner), fact.pk, "shared")
        assert Change.objects.get(ledger_id=legacy.pk, rev=before + 1).event == "SHARE"

    def test_approving_a_shared_one_does_not(self, shared, owner, legacy):
        fact, before = shared(owner, legacy), rev(legacy)
        actions.fact_approve(as_person(owner), fact.pk)
        assert rev(legacy) == before


class TestReview:
    def test_review_after_an_extracted_fact_is_active_until_reviewed(self, api, extract, owner, legacy):
        (fact,) = extract(owner, legacy, "Rosa kept bees.")
        (shown,) = api(owner).get(facts_url(legacy)).json()["results"]
        assert (shown["state"], shown["reviewed_at"], shown["written_by"]) == ("active", None, "offline rules 1")
        assert api(owner).post(url(fact, "approve/")).json()["reviewed_at"]

    def test_review_before_an_extracted_fact_is_proposed_and_in_no_prompt(self, api, extract, owner, member, legacy):
        factories.PreferencesFactory(user=owner, review="before")
        (fact,) = extract(owner, legacy, "Rosa kept bees.")
        assert contents(api(owner).get(facts_url(legacy))) == []
        assert not LegacyFact.objects.for_prompt(as_person(owner), legacy.pk).exists()
        assert api(owner).patch(url(fact, "visibility/"), {"visibility": "shared"}).status_code == 409
        shown = api(owner).post(url(fact, "approve/")).json()
        assert (shown["state"], bool(shown["reviewed_at"])) == ("active", True)
        assert [each.content for each in LegacyFact.objects.for_prompt(as_person(owner), legacy.pk)] == [fact.content]

    def test_approving_twice_changes_nothing(self, api, add, owner, legacy):
        fact = add(owner, legacy)
        before = rev(owner), now(fact).reviewed_at
        assert api(owner).post(url(fact, "approve/")).status_code == 200
        assert (rev(owner), now(fact).reviewed_at) == before

    def test_what_is_gone_is_not_approved(self, api, add, owner, legacy):
        fact = add(owner, legacy)
        api(owner).post(url(fact, "reject/"))
        answer = api(owner).post(url(fact, "approve/"))
        assert (answer.status_code, answer.json()["state"]) == (409, "rejected")

    def test_a_proposed_fact_can_be_rejected(self, api, owner, legacy, agent):
        factories.PreferencesFactory(user=owner, review="before")
        made = api(agent).post(facts_url(legacy), {"content": "Rosa sang.", "category": "hobby"}).json()
        assert api(owner).post(f"/api/v1/facts/{made['id']}/reject/").json()["state"] == "rejected"


class TestRejectingAndDeleting:
    def test_a_rejected_fact_leaves_everything_but_its_author_s_archive(self, api, shared, owner, member, legacy):
        fact = shared(owner, legacy)
        shown = api(owner).post(url(fact, "reject/")).json()
        assert (shown["state"], shown["visibility"], shown["state_reason"]) == (
            "rejected",
            "private",
            "Not true",
        )
        assert shown["purge_at"]
        assert contents(api(owner).get(facts_url(legacy))) == []
        assert contents(api(owner).get(facts_url(legacy, "?state=rejected"))) == [fact.content]
        assert contents(api(member).get(facts_url(legacy, "?state=all"))) == []

    def test_the_reason_is_one_of_two(self, api, add, owner, legacy):
        assert api(owner).post(url(add(owner, legacy), "reject/"), {"reason": "wrong Rosa"}).status_code == 400

    def test_a_deleted_fact_is_archived_for_30_days(self, api, add, owner, legacy):
        fact = add(owner, legacy)
        assert api(owner).delete(url(fact)).status_code == 204
        stored = now(fact)
        assert stored.state == "archived"
        assert (stored.purge_at - stored.deleted_at).days == 30
        answer = api(owner).delete(url(fact))
        assert (answer.status_code, answer.json()["state"]) == (409, "archived")

    @pytest.mark.parametrize("leave", ["fact_reject", "fact_delete"])
    def test_it_does_not_come_back_by_extraction(self, extract, owner, member, legacy, leave):
        (fact,) = extract(owner, legacy, "Rosa baked bread every Sunday.")
        getattr(actions, leave)(as_person(owner), fact.pk)
        assert extract(owner, legacy, "Rosa baked bread, every Sunday!") == []
        (held,) = extract(owner, legacy, "Every Sunday Rosa baked bread.")
        assert (held.state, held.state_reason) == ("proposed", RESEMBLES)
        assert len(extract(owner, legacy, "Rosa kept bees.")) == 1
        assert len(extract(member, legacy, "Rosa baked bread every Sunday.")) == 1
        assert LegacyFact.objects.filter(user=owner).count() == 3

    def test_the_person_saying_it_again_lifts_that(self, api, extract, owner, legacy):
        (fact,) = extract(owner, legacy, "Rosa baked bread every Sunday.")
        api(owner).post(url(fact, "reject/"))
        body = {"content": "rosa baked bread every sunday", "category": "habit"}
        assert api(owner).post(facts_url(legacy), body).status_code == 201
        assert not Suppression.objects.exists()
        again = LegacyFact.objects.get(content=body["content"])
        api(owner).delete(url(again))
        assert Suppression.objects.count() == 1

    def test_a_correction_does_not_lift_what_it_corrects(self, add, owner, legacy):
        fact = add(owner, legacy, "Rosa baked bread every Sunday.")
        actions.fact_reject(as_person(owner), fact.pk)
        add(owner, legacy, "Every Sunday Rosa baked bread.")
        assert Suppression.objects.count() == 1

    def test_editing_a_fact_into_the_rejected_words_lifts_that(self, add, owner, legacy):
        actions.fact_reject(as_person(owner), add(owner, legacy).pk)
        other = add(owner, legacy, "Rosa kept bees.")
        actions.fact_edit(as_person(owner), other.pk, content="Rosa baked bread every Sunday.")
        assert Suppression.objects.get().object_id == str(other.pk), "only the wording that was replaced waits"


class TestRestoring:
    @pytest.mark.parametrize("leave", ["fact_reject", "fact_delete"])
    def test_it_is_active_reviewed_and_private_again(self, api, shared, extract, owner, legacy, leave):
        fact = shared(owner, legacy)
        getattr(actions, leave)(as_person(owner), fact.pk)
        shown = api(owner).post(url(fact, "restore/")).json()
        assert (shown["state"], shown["visibility"], shown["state_reason"], shown["purge_at"]) == (
            "active",
            "private",
            "",
            None,
        )
        assert shown["reviewed_at"]
        assert not Suppression.objects.exists()
        assert extract(owner, legacy, fact.content) == []
        assert now(fact).evidence.count() == 1

    def test_a_rejected_proposal_is_taken_at_its_word(self, api, owner, legacy, agent):
        factories.PreferencesFactory(user=owner, review="before")
        made = api(agent).post(facts_url(legacy), {"content": "Rosa sang.", "category": "hobby"}).json()
        path = f"/api/v1/facts/{made['id']}/"
        api(owner).post(f"{path}reject/")
        assert api(owner).post(f"{path}restore/").json()["state"] == "active"

    def test_what_was_said_anew_meanwhile_is_not_doubled(self, api, add, owner, legacy):
        fact = add(owner, legacy)
        api(owner).delete(url(fact))
        again = add(owner, legacy)
        answer = api(owner).post(url(fact, "restore/"))
        assert (answer.status_code, answer.json()["fact"]) == (409, str(again.pk))
        assert now(fact).state == "archived"

    def test_what_is_there_is_not_restored(self, api, add, owner, legacy):
        assert api(owner).post(url(add(owner, legacy), "restore/")).status_code == 409


class TestHiding:
    def test_only_its_author_and_staff_see_a_hidden_fact(self, api, shared, owner, member, staff, legacy):
        fact = shared(owner, legacy)
        actions.fact_hide(principal_for_staff(staff), fact.pk, "Names a living person.")
        shown = api(owner).get(url(fact)).json()
        assert (shown["state"], shown["state_reason"]) == ("hidden", "Names a living person.")
        assert contents(api(owner).get(facts_url(legacy))) == []
        assert api(member).get(url(fact)).status_code == 404
        assert not LegacyFact.objects.for_prompt(as_person(owner), legacy.pk).exists()
        assert LegacyFact.objects.visible_to(principal_for_staff(staff)).filter(pk=fact.pk).exists()

    def test_its_author_can_only_delete_it(self, api, shared, owner, staff, legacy):
        fact = shared(owner, legacy)
        actions.fact_hide(principal_for_staff(staff), fact.pk, "rude")
        for answer in (
            api(owner).patch(url(fact), {"content": "Rosa kept bees."}),
            api(owner).patch(url(fact, "visibility/"), {"visibility": "shared"}),
            api(owner).post(url(fact, "approve/")),
            api(owner).post(url(fact, "reject/")),
        ):
            assert (answer.status_code, answer.json()["code"]) == (409, "wrong_state")
        assert api(owner).delete(url(fact)).status_code == 204

    def test_deleting_and_restoring_does_not_unhide(self, api, shared, owner, staff, legacy):
        fact = shared(owner, legacy)
        actions.fact_hide(principal_for_staff(staff), fact.pk, "rude")
        api(owner).delete(url(fact))
        shown = api(owner).post(url(fact, "restore/")).json()
        assert (shown["state"], shown["state_reason"], shown["purge_at"]) == ("hidden", "rude", None)

    def test_saying_it_again_does_not_get_round_it(self, extract, shared, owner, staff, legacy):
        fact = shared(owner, legacy)
        actions.fact_hide(principal_for_staff(staff), fact.pk, "rude")
        assert extract(owner, legacy, fact.content) == []

    def test_unhiding_gives_it_back_private(self, api, shared, owner, staff, legacy):
        fact = shared(owner, legacy)
        actions.fact_hide(principal_for_staff(staff), fact.pk, "rude")
        actions.fact_unhide(principal_for_staff(staff), fact.pk, "looked again")
        shown = api(owner).get(url(fact)).json()
        assert (shown["state"], shown["visibility"], shown["state_reason"]) == ("active", "private", "")

    @pytest.mark.parametrize(
        "act", [lambda who, pk: actions.fact_hide(who, pk, "x"), lambda who, pk: actions.fact_unhide(who, pk, "x")]
    )
    def test_only_staff_hide_and_unhide(self, shared, owner, member, legacy, act):
        fact = shared(owner, legacy)
        for person in (owner, member):
            with pytest.raises(NotAllowed):
                act(as_person(person), fact.pk)

    def test_staff_hide_what_is_active_and_unhide_what_is_hidden(self, add, owner, staff, legacy):
        fact, moderator = add(owner, legacy), principal_for_staff(staff)
        with pytest.raises(Conflict):
            actions.fact_unhide(moderator, fact.pk, "looked again")
        actions.fact_delete(as_person(owner), fact.pk)
        with pytest.raises(Conflict):
            actions.fact_hide(moderator, fact.pk, "x")

    def test_staff_decide_nothing_else(self, add, owner, staff, legacy):
        fact, moderator = add(owner, legacy), principal_for_staff(staff)
        for decide in (actions.fact_approve, actions.fact_reject, actions.fact_delete, actions.fact_restore):
            with pytest.raises(NotYoursToDecide):
                decide(moderator, fact.pk)
        with pytest.raises(NotYoursToDecide):
            actions.fact_set_visibility(moderator, fact.pk, "shared")
        with pytest.raises(NotYoursToDecide):
            actions.fact_edit(moderator, fact.pk, category="hobby")


def test_a_fact_that_is_gone_while_it_is_locked_is_missing(add, owner, legacy, monkeypatch):
    from statements.actions import single

    fact = add(owner, legacy)
    opened = single.ledger_write

    def purged_meanwhile(*args):
        factories.erase(LegacyFact.objects.all())
        return opened(*args)

    monkeypatch.setattr(single, "ledger_write", purged_meanwhile)
    with pytest.raises(NotFound):
        actions.fact_approve(as_person(owner), fact.pk)


class TestChangingWhenOneReviews:
    """The preference holds for what was found before it, too."""

    def test_what_waits_leaves_prompts_and_agents_and_comes_back(self, api, extract, add, owner, member, agent, legacy):
        from assistant.recall.search import QueryVector, find_facts
        from facts.searching import FactSelection

        (found,) = extract(owner, legacy, "Rosa kept bees.")
        said = add(owner, legacy, "Rosa sang to her bees.")
        theirs = add(member, legacy, "Rosa sold honey from her bees.", visibility="shared")
        everything = [found.content, said.content, theirs.content]
        preferences = factories.PreferencesFactory(user=owner)
        deciding = factories.AgentKeyFactory(agent=factories.AgentFactory(owner=owner), scopes=["read", "admin"])

        def in_prompts():
            person, at = as_person(owner), timezone.now()
            block = LegacyFact.objects.for_prompt(person, legacy.pk)
            pinned = LegacyFact.objects.for_prompt(person, legacy.pk, as_of=at)
            found = find_facts(person, QueryVector("her bees"), wanted=FactSelection(legacy.pk), top_k=9)
            recalled = [each.row for each in found]
            return [{each.content for each in rows} for rows in (block, pinned, recalled)]

        assert in_prompts() == [set(everything)] * 3
        api(owner).patch("/api/v1/me/preferences/", {"review": "before"})
        preferences.refresh_from_db()
        assert preferences.review == "before"
        assert in_prompts() == [{said.content, theirs.content}] * 3
        assert contents(api(agent).get(facts_url(legacy, "?state=all"))) == everything[1:]
        assert contents(api(agent).get(facts_url(legacy, "?search=kept"))) == []
        assert [api(agent).get(url(found, what)).status_code for what in ("", "history/")] == [404, 404]
        assert contents(api(deciding).get(facts_url(legacy))) == everything
        assert contents(api(owner).get(facts_url(legacy, "?waiting=true"))) == [found.content]
        again = api(agent).post(facts_url(legacy), {"content": found.content, "category": "habit"})
        assert (again.status_code, again.json()["code"]) == (409, "similar_exists")

        api(owner).patch("/api/v1/me/preferences/", {"review": "after"})
        assert in_prompts() == [set(everything)] * 3
        assert contents(api(agent).get(facts_url(legacy))) == everything
        api(owner).patch("/api/v1/me/preferences/", {"review": "before"})
        api(owner).post(url(found, "approve/"))
        assert in_prompts() == [set(everything)] * 3

    def test_what_an_agent_proposes_it_sees_in_the_answer_alone(self, api, owner, agent, legacy):
        factories.PreferencesFactory(user=owner, review="before")
        answer = api(agent).post(facts_url(legacy), {"content": "Rosa sang.", "category": "hobby"})
        assert (answer.status_code, answer.json()["content"]) == (202, "Rosa sang.")
        assert contents(api(agent).get(facts_url(legacy, "?state=all"))) == []
        api(owner).post(f"/api/v1/facts/{answer.json()['id']}/reject/")
        assert contents(api(agent).get(facts_url(legacy, "?state=all"))) == []
