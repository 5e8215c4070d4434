"""Membership by consent: who is asked, what is told to whom before they answer, and what an answer does."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import actions, policy
from accounts.models import Agent, ExternalIdentity, Grant, Invitation, InvitationBlock, Legacy, Member, User
from accounts.queries import principal_for_person
from facts.actions import member_leave
from journal.exceptions import Conflict, NotFound
from journal.models import Change
from tests import factories
from tests.conftest import taken_back, with_key
from tests.every_call import picture
from tests.factories import rev_of

API = "/api/v1/"


def as_person(user):
    return principal_for_person(user.pk)


def members_url(legacy):
    return f"{API}legacies/{legacy.pk}/members/"


def invite(owner, legacy, name="stranger", role="member"):
    """The code of an invitation."""
    return actions.member_invite(as_person(owner), legacy.pk, name, role).code


def answer(client, code, what="accept"):
    return client.post(f"{API}invitations/{code}/{what}/", {})


def waiting(client):
    return client.get(f"{API}invitations/").json()["results"]


def outstanding(client, legacy):
    found = client.get(f"{API}legacies/{legacy.pk}/invitations/").json()["results"]
    return [{name: each[name] for name in ("name", "role", "invited_by")} for each in found]


def events_of(owner):
    return list(Change.objects.of_owner(owner.pk).values_list("event", "object_type"))


class TestAsking:
    def test_an_answer_has_a_code_a_link_and_the_name(self, owner, legacy, stranger, api):
        made = api(owner).post(members_url(legacy), {"name": "stranger"})
        assert made.status_code == 202
        invitation = made.json()["invitation"]
        assert invitation["name"] == "stranger"
        assert re.fullmatch(r"([0-9A-Z]{5}-){3}[0-9A-Z]{5}", invitation["code"])
        assert invitation["link"] == f"http://testserver/invitations/{invitation['code']}/"
        assert not legacy.members.filter(pk=stranger.pk).exists()

    def test_those_who_are_named_when_it_is_made_are_invited(self, owner, member, api):
        made = api(owner).post(f"{API}legacies/", {"name": "Rosa", "members": ["ｍember", "nemo", "MEMBER"]})
        assert made.status_code == 201
        assert [each["name"] for each in made.json()["invitations"]] == ["member", "nemo"]
        assert list(Legacy.objects.get().members.all()) == [owner]
        assert answer(api(member), made.json()["invitations"][0]["code"]).status_code == 200

    @pytest.mark.parametrize("issuer", ["local", "backend"])
    def test_answers_don_t_tell_which_accounts_exist(self, service, owner, member, stranger, api, issuer):
        """Reproduction: `unknown_user` against a name. Answer, statements and what is stored are the same for all."""
        Agent.objects.update(issuer=issuer)
        gone, blocker = factories.UserFactory(username="gone", is_active=False), factories.UserFactory(username="wary")
        for user in (owner, member, stranger, gone, blocker):
            factories.ExternalIdentityFactory(issuer="backend", external_id=user.username, user=user)
        legacy = factories.LegacyFactory(owner=owner, members=[member])
        InvitationBlock.objects.create(user=blocker, inviter=owner, legacy=legacy)
        client, people, seen = api(service, "owner"), User.objects.count(), set()
        for name in ("stranger", "nemo", "gone", "member", "wary", "owner"):
            with taken_back(), CaptureQueriesContext(connection) as queries:
                made = client.post(members_url(legacy), {"name": name})
                sql = tuple(re.sub(r"'[^']*'|\b\d+\b|s\d+_x\d+", "?", each["sql"] or "") for each in queries)
                assert made.json()["invitation"]["name"] == name
                assert [each["name"] for each in outstanding(client, legacy)] == [name]
                seen.add((made.status_code, *made.json()["invitation"], sql, rev_of(stranger), User.objects.count()))
        assert len(seen) == 1
        assert User.objects.count() == people

    @pytest.mark.parametrize(
        ("body", "code"),
        [
            ({"name": ""}, None),
            ({"name": "not a name"}, "bad_username"),
            ({"name": "str\u0430nger"}, "bad_user"),
            ({"name": "stranger", "role": "boss"}, None),
            ({"name": "x" * 256}, None),
        ],
    )
    def test_a_wrong_body_changes_nothing(self, owner, legacy, api, body, code):
        refused = api(owner).post(members_url(legacy), body)
        assert (refused.status_code, refused.json().get("code")) == (400, code)
        assert (rev_of(legacy), Invitation.objects.count()) == (0, 0)

    def test_it_is_logged_for_the_owner_and_the_legacy_and_nobody_else(self, owner, stranger, legacy):
        invite(owner, legacy)
        assert events_of(owner) == events_of(legacy) == [("INVITE", "invitation")]
        assert events_of(stranger) == []
        assert "stranger" not in str(Change.objects.of_owner(legacy.pk).values_list("meta", "object_id"))

    def test_a_code_is_a_hundred_bits_and_stored_as_a_fingerprint(self, owner, legacy):
        code = invite(owner, legacy).replace("-", "")
        assert len(policy.CODE_ALPHABET) ** len(code) == 2**100
        stored = Invitation.objects.get()
        assert stored.code_hmac == policy.fingerprint(policy.INVITATION, code)
        assert code not in repr(vars(stored)).upper()
        assert policy.fingerprint(policy.LINK_CODE, code) != stored.code_hmac

    def test_the_same_name_again_ends_the_one_before(self, owner, stranger, legacy, api):
        first, second = invite(owner, legacy), invite(owner, legacy, "STRANGER")
        assert len(outstanding(api(owner), legacy)) == 1
        assert answer(api(stranger), first).status_code == 404
        assert answer(api(stranger), second).status_code == 200

    def test_a_repeated_request_makes_one_and_shows_no_code_again(self, owner, legacy, api):
        client, headers = api(owner), {"Idempotency-Key": "k1"}
        first, again = (client.post(members_url(legacy), {"name": "sam"}, headers=headers) for _ in range(2))
        assert (first.status_code, again.status_code, Invitation.objects.count()) == (202, 202, 1)
        assert again.json() == {"invitation": {"code": None, "link": None, "name": "sam"}}
        body, headers = {"name": "Rosa", "members": ["sam"]}, {"Idempotency-Key": "k2"}
        first, again = (client.post(f"{API}legacies/", body, headers=headers) for _ in range(2))
        assert again.json()["invitations"] == [{"code": None, "link": None, "name": "sam"}]
        assert {**first.json(), "invitations": []} == {**again.json(), "invitations": []}

    def test_a_person_sends_so_many_a_day(self, owner, member, legacy, settings, api):
        settings.INVITATIONS_PER_DAY = 3
        Member.objects.update(role="owner")
        with time_machine.travel(timezone.now(), tick=False) as clock:
            assert api(owner).post(f"{API}legacies/", {"name": "Jo", "members": ["a", "b"]}).status_code == 201
            assert api(owner).post(members_url(legacy), {"name": "c"}).status_code == 202
            for path, body in ((members_url(legacy), {}), (f"{API}legacies/", {"name": "Ed", "members": ["d"]})):
                refused = api(owner).post(path, body)
                assert (refused.status_code, refused.json()["code"]) == (429, "too_many_invitations")
                assert refused["Retry-After"] == "86400"
            assert not Legacy.objects.filter(name="Ed").exists()
            assert api(member).post(members_url(legacy), {"name": "c"}).status_code == 202
            clock.shift(timedelta(days=1))
            assert api(owner).post(members_url(legacy), {"name": "d"}).status_code == 202


class TestWhoInvites:
    @pytest.mark.parametrize(
        ("scopes", "role", "grant"),
        [
            (["read", "write"], "", {}),
            (["read", "write", "admin"], "planner", {}),
            (["read", "write", "admin"], "", {"categories": ["tone"]}),
            (["read", "write", "admin"], "", {"sources": ["turns"]}),
        ],
        ids=["no admin", "role", "categories", "sources"],
    )
    def test_a_narrowed_key_invites_nobody(self, owner, legacy, agent, api, scopes, role, grant):
        Agent.objects.update(role=role)
        Grant.objects.create(user=owner, agent=agent, **grant)
        client = api(with_key(agent, scopes))
        for path, body in (
            (members_url(legacy), {"name": "sam"}),
            (f"{API}legacies/", {"name": "Jo", "members": ["s"]}),
        ):
            refused = client.post(path, body)
            assert (refused.status_code, refused.json()["code"]) == (403, "not_yours_to_decide")
        sent = actions.member_invite(as_person(owner), legacy.pk, "sam").invitation
        # Reproduction: it ended the legacy for all members.
        for refused in (
            client.post(f"{API}legacies/{legacy.pk}/end/"),
            client.delete(f"{API}legacies/{legacy.pk}/invitations/{sent.pk}/"),
            client.delete(f"{API}legacies/{legacy.pk}/members/{Member.objects.get(user=owner).pk}/"),
            client.patch(f"{API}legacies/{legacy.pk}/members/{Member.objects.get(user=owner).pk}/", {"role": "member"}),
        ):
            assert (refused.status_code, refused.json()["code"]) == (403, "not_yours_to_decide")
        # Reproduction: it renamed the legacy. Without a narrowing, a key that writes may.
        named = client.patch(f"{API}legacies/{legacy.pk}/", {"name": "Aunt Rosa"})
        drawn = client.put(f"{API}legacies/{legacy.pk}/picture/", picture(), format="multipart")
        removed = client.delete(f"{API}legacies/{legacy.pk}/picture/")
        expected = [403, 403, 403] if role or grant else [200, 204, 204]
        assert [each.status_code for each in (named, drawn, removed)] == expected
        assert Invitation.objects.get().state == "open"
        assert client.post(f"{API}legacies/", {"name": "Jo"}).status_code == 201

    def test_the_person_s_own_admin_key_does(self, legacy, agent, api):
        client = api(with_key(agent, ["read", "write", "admin"]))
        assert client.post(members_url(legacy), {"name": "stranger"}).status_code == 202
        assert [each["name"] for each in outstanding(client, legacy)] == ["stranger"]

    def test_whoever_may_not_see_the_legacy_is_told_nothing(self, service, stranger, legacy, api):
        for client in (api(stranger), api(service, "42")):
            missing = client.post(members_url(legacy), {"name": "43"})
            assert (missing.status_code, missing.json()["code"]) == (404, "not_found")
        assert not Invitation.objects.exists()


class TestBeforeTheAnswer:
    def test_nothing_of_the_legacy_reaches_them_or_their_agents(
        self, owner, stranger, legacy, other_agent, api, client
    ):
        """Reproduction: adding somebody put the legacy's facts into their prompts, unasked."""
        fact = factories.LegacyFactFactory(
            legacy=legacy, user=owner, content="Rosa kept forty bee hives.", visibility="shared"
        )
        code = invite(owner, legacy)
        talk = factories.ConversationFactory(user=stranger)
        client.force_login(stranger)
        callers = (api(stranger), api(other_agent))

        def told(each):
            query = {"query": "bee hives", "sources": ["facts"], "legacy": str(legacy.pk)}
            return [
                each.get(f"{API}legacies/").content,
                each.get(f"{API}legacies/{legacy.pk}/facts/").content,
                each.get(f"{API}facts/{fact.pk}/").content,
                each.post(f"{API}conversations/", {"legacy": str(legacy.pk)}).content,
                each.post(f"{API}conversations/{talk.pk}/turn/", {"content": "bee hives?"}).content,
                each.post(f"{API}memories/query/", query).content,
                each.get(f"{API}changes/?after=0").content,
            ]

        pages = [client.get(path).content.decode() for path in ("/", "/facts/", f"/legacies/{legacy.pk}/")]
        for text in [*(part.decode() for each in callers for part in told(each)), *pages]:
            assert "hives" not in text or "bee hives?" in text
            assert "forty" not in text
        assert rev_of(stranger) == 0
        assert waiting(api(other_agent)) == []  # A name that others chose is no text for a prompt.
        assert [(each["legacy"], each["invited_by"]) for each in waiting(api(stranger))] == [
            ("Grandmother Rosa", "Olga Owner")
        ]
        assert answer(api(stranger), code).json()["legacy"]["role"] == "member"
        assert "forty" in callers[1].get(f"{API}facts/{fact.pk}/").content.decode()
        assert waiting(api(stranger)) == []

    def test_owners_see_and_revoke_what_is_outstanding(self, owner, member, stranger, legacy, api):
        code = invite(owner, legacy, role="owner")
        assert outstanding(api(owner), legacy) == [{"name": "stranger", "role": "owner", "invited_by": "Olga Owner"}]
        assert outstanding(api(member), legacy) == []
        (found,) = api(owner).get(f"{API}legacies/{legacy.pk}/invitations/").json()["results"]
        assert api(owner).delete(f"{API}legacies/{legacy.pk}/invitations/{found['id']}/").status_code == 204
        assert (outstanding(api(owner), legacy), waiting(api(stranger))) == ([], [])
        assert answer(api(stranger), code).status_code == 404
        assert events_of(legacy) == [("INVITE", "invitation"), ("DELETE", "invitation")]
        assert api(owner).delete(f"{API}legacies/{legacy.pk}/invitations/{found['id']}/").status_code == 404

    def test_one_ends_after_fourteen_days(self, owner, stranger, legacy, api):
        with time_machine.travel(timezone.now(), tick=False) as clock:
            code = invite(owner, legacy)
            clock.shift(timedelta(days=14, seconds=-1))
            assert len(waiting(api(stranger))) == 1
            clock.shift(timedelta(seconds=1))
            assert (waiting(api(stranger)), outstanding(api(owner), legacy)) == ([], [])
            assert answer(api(stranger), code).status_code == 404

    @pytest.mark.parametrize("end", ["leaves", "hands over", "is kept out"])
    def test_what_somebody_sent_who_owns_it_no_more_is_worth_nothing(self, owner, member, stranger, legacy, api, end):
        """Who was removed would come back by a link of their own."""
        Member.objects.update(role="owner")
        codes_sent = [invite(member, legacy), invite(member, legacy, "")]
        theirs = legacy.memberships.get(user=member)
        if end == "leaves":
            member_leave(as_person(owner), legacy.pk, theirs.pk)
        elif end == "hands over":
            actions.member_set_role(as_person(owner), legacy.pk, theirs.pk, "member")
        else:
            User.objects.filter(pk=member.pk).update(is_active=False)
        assert waiting(api(stranger)) == []
        for code in codes_sent:
            assert answer(api(stranger), code).status_code == 404
        if end == "leaves":
            assert answer(api(member), codes_sent[1]).status_code == 404

    def test_staff_see_who_invites_and_not_whom(self, owner, staff, legacy, client):
        invite(owner, legacy, "somebody-in-particular")
        client.force_login(staff)
        pages = [
            client.get("/admin/accounts/invitation/").content.decode(),
            client.get(f"/admin/accounts/invitation/{Invitation.objects.get().pk}/change/").content.decode(),
        ]
        for page in pages:
            assert "owner" in page
            assert "somebody-in-particular" not in page


class TestAccepting:
    def test_they_keep_it_from_then_on(self, owner, stranger, legacy, api):
        code = invite(owner, legacy, role="owner")
        accepted = answer(api(stranger), code.lower().replace("-", ""))
        assert accepted.status_code == 200
        assert accepted.json()["outcome"] == "accepted"
        assert accepted.json()["legacy"]["id"] == str(legacy.pk)
        assert legacy.memberships.get(user=stranger).role == "owner"
        assert events_of(stranger) == [("JOIN", "member")]
        assert events_of(legacy) == [("INVITE", "invitation"), ("JOIN", "member")]
        change = Change.objects.of_owner(stranger.pk).get()
        assert (change.actor_kind, change.actor_id) == ("person", str(stranger.pk))
        assert outstanding(api(owner), legacy) == []

    def test_accepting_again_changes_nothing(self, owner, stranger, legacy, api):
        code = invite(owner, legacy)
        first, again = (answer(api(stranger), code) for _ in range(2))
        assert first.json() == again.json()
        assert rev_of(stranger) == 1
        assert answer(api(stranger), code, "decline").json()["code"] == "already_member"
        other = invite(owner, legacy, "")
        assert answer(api(stranger), other).json()["code"] == "already_member"

    def test_one_in_my_name_is_answered_by_its_id(self, owner, stranger, legacy, api):
        invite(owner, legacy)
        (found,) = waiting(api(stranger))
        assert answer(api(stranger), found["id"]).status_code == 200

    def test_an_id_is_no_code(self, owner, stranger, legacy, api):
        invite(owner, legacy, "")
        assert answer(api(stranger), Invitation.objects.get().pk).status_code == 404

    def test_a_code_in_another_name_is_like_one_that_never_was(self, owner, member, legacy, api):
        elsewhere = factories.LegacyFactory(owner=owner)
        code = invite(owner, elsewhere)
        for what in ("accept", "decline", "block"):
            theirs, none = (answer(api(member), each, what) for each in (code, "ABCDE-FGHJK-MNPQR-STVWX"))
            assert (theirs.status_code, theirs.content) == (404, none.content)
            assert answer(api(member), "nonsense", what).content == none.content
        assert Invitation.objects.get().state == "open"

    def test_their_own_admin_key_decides_and_another_does_not(self, owner, stranger, legacy, other_agent, api):
        code = invite(owner, legacy)
        for what in ("accept", "decline", "block"):
            refused = answer(api(other_agent), code, what)
            assert (refused.status_code, refused.json()["code"]) == (403, "not_yours_to_decide")
        deciding = api(with_key(other_agent, ["read", "write", "admin"]))
        Agent.objects.filter(pk=other_agent.pk).update(role="planner")
        assert answer(deciding, code).status_code == 403
        Agent.objects.filter(pk=other_agent.pk).update(role="")
        assert answer(deciding, code).status_code == 200
        assert legacy.members.filter(pk=stranger.pk).exists()

    def test_a_service_with_admin_accepts_for_whom_it_names_who_need_not_have_been_there(self, service, api):
        made = api(service, "42").post(f"{API}legacies/", {"name": "Rosa", "members": ["43", "44"]}).json()
        first, second = (each["code"] for each in made["invitations"])
        assert not ExternalIdentity.objects.filter(external_id__in=["43", "44"]).exists()
        assert answer(api(service, "44"), first).status_code == 404
        assert answer(api(service, "43"), first).status_code == 200
        assert waiting(api(service, "44")) == []  # Neither a failed request nor a GET makes a person.
        key = factories.AgentKeyFactory(agent=service, scopes=["read", "write"])
        assert answer(api(key, "44"), second).status_code == 403
        assert answer(api(service, "44"), second).status_code == 200
        path = f"{API}legacies/{made['id']}/members/"
        assert api(service, "44").get(path).json()["count"] == 3

    def test_a_name_of_another_issuer_is_another_name(self, owner, stranger, service, legacy, api):
        factories.ExternalIdentityFactory(issuer="backend", external_id="sam", user=stranger)
        code = invite(owner, legacy, "sam")  # The deployment's sam, not the backend's.
        assert waiting(api(stranger)) == []
        assert answer(api(service, "sam"), code).status_code == 404

    def test_without_a_name_it_is_for_whoever_uses_it_first(self, owner, stranger, legacy, api):
        made = api(owner).post(members_url(legacy), {}).json()["invitation"]
        assert made["name"] is None
        assert waiting(api(stranger)) == []
        assert answer(api(stranger), made["code"]).status_code == 200
        assert answer(api(factories.UserFactory()), made["code"]).status_code == 404

    def test_who_has_left_is_asked_again(self, owner, member, stranger, legacy, api):
        """Reproduction: who had left was added again, unasked."""
        code = invite(owner, legacy)
        answer(api(stranger), code)
        fact = factories.LegacyFactFactory(legacy=legacy, user=stranger, visibility="shared")
        theirs = legacy.memberships.get(user=stranger)
        assert api(stranger).delete(f"{members_url(legacy)}{theirs.pk}/").status_code == 204
        fact.refresh_from_db()
        assert fact.visibility == "private"
        assert answer(api(stranger), code).status_code == 404
        again = invite(owner, legacy)
        assert not legacy.members.filter(pk=stranger.pk).exists()
        assert answer(api(stranger), again).status_code == 200
        fact.refresh_from_db()
        assert fact.visibility == "private"

    def test_a_key_that_was_rotated_leaves_codes_good(self, owner, stranger, legacy, api, settings):
        code = invite(owner, legacy)
        settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "another " * 8
        assert answer(api(stranger), code).status_code == 200


class TestDecliningAndBlocking:
    @pytest.mark.parametrize("what", ["decline", "block"])
    def test_owners_are_not_told(self, owner, stranger, legacy, api, what):
        code = invite(owner, legacy)
        before, rev = outstanding(api(owner), legacy), rev_of(legacy)
        answered = answer(api(stranger), code, what)
        assert (answered.status_code, answered.json()["legacy"]) == (200, None)
        assert waiting(api(stranger)) == []
        assert (outstanding(api(owner), legacy), rev_of(legacy)) == (before, rev)
        assert events_of(stranger) == [("DECLINE" if what == "decline" else "BLOCK", "invitation")]
        assert not legacy.members.filter(pk=stranger.pk).exists()

    def test_who_declined_can_accept_while_it_lasts_and_nobody_else(self, owner, member, stranger, api):
        legacy = factories.LegacyFactory(owner=owner)
        code = invite(owner, legacy, "")
        assert answer(api(stranger), code, "decline").status_code == 200
        assert answer(api(stranger), code, "decline").status_code == 200
        assert rev_of(stranger) == 1
        assert answer(api(member), code).status_code == 404
        assert answer(api(stranger), code).status_code == 200

    def test_what_was_declined_and_revoked_is_over(self, owner, stranger, legacy, api):
        code = invite(owner, legacy)
        answer(api(stranger), code, "decline")
        actions.invitation_revoke(as_person(owner), legacy.pk, Invitation.objects.get().pk)
        assert answer(api(stranger), code).status_code == 404

    def test_who_blocks_is_asked_no_more_about_that_legacy_nor_by_that_person(
        self, owner, member, stranger, legacy, api
    ):
        Member.objects.update(role="owner")
        assert answer(api(stranger), invite(owner, legacy), "block").json()["outcome"] == "blocked"
        another = factories.LegacyFactory(owner=owner, members=[member])
        Member.objects.filter(legacy=another).update(role="owner")
        for who, where in ((member, legacy), (owner, another)):
            made = api(who).post(members_url(where), {"name": "stranger"})
            assert (made.status_code, list(made.json()["invitation"])) == (202, ["code", "link", "name"])
            assert waiting(api(stranger)) == []
            assert answer(api(stranger), made.json()["invitation"]["code"]).status_code == 404
        assert len(outstanding(api(owner), another)) == 1
        third = invite(member, another)
        assert len(waiting(api(stranger))) == 1
        assert answer(api(stranger), third).status_code == 200

    def test_a_block_can_be_lifted_by_whose_it_is(self, owner, member, stranger, legacy, other_agent, api):
        answer(api(stranger), invite(owner, legacy), "block")
        invite(owner, legacy)
        (block,) = api(stranger).get(f"{API}invitations/blocks/").json()["results"]
        assert block["invited_by"] == "Olga Owner"
        assert api(other_agent).get(f"{API}invitations/blocks/").json()["results"] == []
        path = f"{API}invitations/blocks/{block['id']}/"
        assert [api(each).delete(path).status_code for each in (member, other_agent, stranger)] == [404, 403, 204]
        assert len(waiting(api(stranger))) == 1
        assert events_of(stranger)[-1] == ("DELETE", "invitation_block")


class TestWhatIsKept:
    def test_ended_ones_are_deleted_with_the_names_in_them(self, owner, stranger, legacy):
        with time_machine.travel(timezone.now(), tick=False) as clock:
            actions.invitation_accept(as_person(stranger), invite(owner, legacy))
            invite(owner, legacy, "nemo")
            clock.shift(timedelta(days=1))
            assert actions.invitations_tidy() == 0
            clock.shift(timedelta(seconds=1))
            assert actions.invitations_tidy() == 1
            assert Invitation.objects.get().name == "nemo"
            clock.shift(timedelta(days=14))
            assert actions.invitations_tidy() == 1

    def test_the_database_keeps_one_outstanding_for_a_name(self, owner, legacy):
        invite(owner, legacy)
        twin = Invitation.objects.get()
        twin.pk, twin.code_hmac = None, "another"
        with pytest.raises(IntegrityError, match="invitation_outstanding_once_per_name"), transaction.atomic():
            Invitation.objects.bulk_create([twin])
        with pytest.raises(IntegrityError, match="invitation_ended_by_somebody"), transaction.atomic():
            Invitation.objects.update(state="accepted", ended_at=timezone.now())

    def test_codes_are_in_no_log(self, owner, stranger, legacy, client, caplog):
        code = invite(owner, legacy)
        client.force_login(stranger)
        client.get(f"/invitations/{code}/")
        client.post(f"{API}invitations/{code}/decline/")
        assert "/invitations/[code]/decline/" in caplog.text
        assert code not in caplog.text


@pytest.mark.django_db(transaction=True)
class TestAtOnce:
    def test_one_of_many_gets_a_link(self, owner, legacy, at_once):
        code = invite(owner, legacy, "")
        people = factories.UserFactory.create_batch(6)
        results = at_once(lambda number: actions.invitation_accept(as_person(people[number]), code), 6)
        assert sorted(type(each).__name__ for each in results) == ["Member", *["NotFound"] * 5]
        assert legacy.memberships.count() == 3

    def test_eight_acceptances_make_one_member(self, owner, stranger, legacy, at_once):
        code = invite(owner, legacy)
        results = at_once(lambda _: actions.invitation_accept(as_person(stranger), code).pk, 8)
        assert len(set(results)) == 1
        assert rev_of(stranger) == 1

    def test_eight_invitations_at_once_leave_one(self, owner, stranger, legacy, at_once):
        sent = at_once(lambda _: invite(owner, legacy), 8)
        accepted = [self._accepted(stranger, code) for code in sent]
        assert accepted.count(True) == 1
        assert Invitation.objects.filter(state="revoked").count() == 7

    def test_a_link_that_is_revoked_meanwhile_lets_in_or_does_not(self, owner, stranger, legacy, at_once):
        code = invite(owner, legacy)
        pk = Invitation.objects.get().pk
        both = [
            lambda: actions.invitation_revoke(as_person(owner), legacy.pk, pk),
            lambda: actions.invitation_accept(as_person(stranger), code),
        ]
        results = at_once(lambda number: both[number](), 2)
        assert sum(isinstance(each, NotFound) for each in results) == 1
        assert legacy.members.filter(pk=stranger.pk).exists() is isinstance(results[0], NotFound)

    def _accepted(self, person, code):
        try:
            actions.invitation_accept(as_person(person), code)
        except (NotFound, Conflict):
            return False
        return True
