"""How a request becomes a principal: keys, sessions, the people a service names."""

from datetime import timedelta

import pytest
import time_machine
from django.conf import settings as django_settings
from django.contrib.auth.models import AnonymousUser
from django.test import RequestFactory, override_settings
from django.utils import timezone
from rest_framework.exceptions import NotAuthenticated

from accounts import actions, queries
from accounts.authentication import principal_of
from accounts.models import AgentKey, ExternalIdentity, Grant, User
from accounts.policy import must_act_for, must_read, must_remember, must_write, narrowed
from accounts.principals import Principal
from journal.exceptions import NotAllowed, NotFound, Refused
from tests import factories

LEGACIES = "/api/v1/legacies/"


def halves(credential):
    public, _, secret = credential.removeprefix("ks_").partition(".")
    return public, secret


def principal(credential, external_id=None):
    return actions.principal_for_key(*halves(credential), external_id)


def keep_out(user_id):
    moderator = queries.principal_for_staff(factories.UserFactory(is_staff=True))
    actions.user_set_active(moderator, user_id, active=False)


@pytest.mark.parametrize("scheme", ["Bearer", "Token", "bearer"])
def test_a_key_is_sent_under_either_scheme_word(agent, api, scheme):
    client = api()
    client.credentials(HTTP_AUTHORIZATION=f"{scheme} {agent.credential}")
    assert client.get(LEGACIES).status_code == 200


def wrong_secret(credential):
    return credential[:-1] + ("a" if credential[-1] != "a" else "b")


@pytest.mark.parametrize(
    "sent",
    [
        lambda key: f"Bearer {wrong_secret(key)}",
        lambda key: "Bearer ks_unknownkey00." + key.partition(".")[2],
        lambda key: f"Basic {key}",
        lambda key: key,
        lambda key: f"Bearer {key} {key}",
        lambda key: "Bearer ks_",
        lambda key: f"Bearer {key}\x00",
    ],
)
def test_whoever_sends_no_good_key_is_unknown(agent, api, sent):
    client = api()
    client.credentials(HTTP_AUTHORIZATION=sent(agent.credential))
    answer = client.get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_key")
    assert answer["WWW-Authenticate"] == "Bearer"


def test_without_key_or_session_the_answer_is_401(db, api):
    answer = api().get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (401, "not_authenticated")


@pytest.mark.parametrize("why", ["expired", "revoked", "owner inactive"])
def test_a_key_ends(agent, api, why):
    if why == "expired":
        AgentKey.objects.update(expires_at=timezone.now())
    elif why == "revoked":
        AgentKey.objects.update(revoked_at=timezone.now())
    else:
        keep_out(agent.owner_id)
    answer = api(agent).get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (401, "bad_key")


def test_a_key_that_expires_later_is_good(agent, api):
    AgentKey.objects.update(expires_at=timezone.now() + timedelta(minutes=1))
    assert api(agent).get(LEGACIES).status_code == 200


def test_an_inactive_person_can_not_use_their_session(owner, api):
    client = api(owner)
    keep_out(owner.pk)
    assert client.get(LEGACIES).status_code == 401
    with pytest.raises(NotFound):
        queries.principal_for_person(owner.pk)


def test_only_staff_keep_somebody_out(owner, member):
    for who in (owner, member):
        with pytest.raises(NotAllowed):
            actions.user_set_active(queries.principal_for_person(who.pk), owner.pk, active=False)
    owner.refresh_from_db()
    assert owner.is_active


def test_a_person_who_is_no_longer_active_is_not_acted_for(service, api):
    client = api(service, "42")
    assert client.post(LEGACIES, {"name": "Rosa"}).status_code == 201
    keep_out(User.objects.get(identities__external_id="42").pk)
    assert client.get(LEGACIES).status_code == 403


def test_only_an_hmac_of_the_secret_is_kept(agent):
    key = AgentKey.objects.get()
    public, secret = halves(agent.credential)
    assert key.public == public
    assert secret not in "".join(str(value) for value in vars(key).values())
    assert len(key.secret_hmac) == 64


def test_keys_outlive_a_rotated_secret_key(agent, api):
    with override_settings(SECRET_KEY="another key", SECRET_KEY_FALLBACKS=[django_settings.SECRET_KEY]):
        assert api(agent).get(LEGACIES).status_code == 200
    with override_settings(SECRET_KEY="another key", SECRET_KEY_FALLBACKS=[]):
        assert api(agent).get(LEGACIES).status_code == 401


def test_the_principal_of_a_key_takes_one_query(agent, django_assert_num_queries):
    principal(agent.credential)  # The first visit leaves a grant and the time of use.
    with django_assert_num_queries(1):
        made = principal(agent.credential)
    assert made.kind == "agent"
    assert made.actor_id == str(agent.pk)
    assert made.user_id == agent.owner_id
    assert made.scopes == {"read", "write"}
    assert made.name == "Olga Owner"


def test_the_principal_of_a_service_takes_one_query(service, django_assert_num_queries):
    principal(service.credential, "42")
    with django_assert_num_queries(1):
        assert principal(service.credential, "42").name == "42"


def test_the_principal_of_a_person_takes_one_query(owner, django_assert_num_queries):
    actions.preferences_set(
        queries.principal_for_person(owner.pk), has_memory=False, review="before", time_zone="Asia/Tokyo", language="ja"
    )
    with django_assert_num_queries(1):
        made = queries.principal_for_person(owner.pk)
    assert (made.kind, made.user_id, made.rev, made.name) == ("person", owner.pk, 1, "Olga Owner")
    assert (made.has_memory, made.review, made.time_zone, made.language) == (False, "before", "Asia/Tokyo", "ja")
    assert made.may_decide
    assert made.is_authenticated


def test_every_principal_knows_how_the_person_wants_memories_learned(owner, agent):
    person = queries.principal_for_person(owner.pk)
    for made in (person, queries.principal_for_job(owner.pk), principal(agent.credential)):
        assert (made.agentic_memory, made.extract_each_message) == (True, None)
    actions.preferences_set(person, agentic_memory=False, extract_each_message=True)
    for made in (queries.principal_for_job(owner.pk), principal(agent.credential)):
        assert (made.agentic_memory, made.extract_each_message) == (False, True)


def test_the_last_use_is_written_at_most_once_a_minute(agent):
    with time_machine.travel("2026-03-01T12:00:00Z", tick=False) as clock:
        principal(agent.credential)
        first = AgentKey.objects.get().last_used_at
        clock.shift(59)
        principal(agent.credential)
        assert AgentKey.objects.get().last_used_at == first
        clock.shift(2)
        principal(agent.credential)
        assert AgentKey.objects.get().last_used_at == first + timedelta(seconds=61)


def test_two_backends_that_say_42_mean_two_people(service, api):
    other = factories.AgentFactory(service=True, issuer="another backend")
    other.credential = factories.AgentKeyFactory(agent=other).credential
    for caller in (service, other):
        assert api(caller, "42").post(LEGACIES, {"name": "Rosa"}).status_code == 201
    people = User.objects.filter(identities__external_id="42")
    assert people.count() == 2
    assert not any(person.has_usable_password() for person in people)
    assert set(Grant.objects.values_list("user", "agent")) == {
        (ExternalIdentity.objects.get(issuer="backend").user_id, service.pk),
        (ExternalIdentity.objects.get(issuer="another backend").user_id, other.pk),
    }


def test_two_services_of_one_issuer_mean_the_same_person(service):
    twin = factories.AgentFactory(service=True, issuer=service.issuer)
    key = factories.AgentKeyFactory(agent=twin).credential
    assert principal(service.credential, "42").user_id == principal(key, "42").user_id


def test_two_identities_of_one_person_are_one_person(service, owner):
    factories.ExternalIdentityFactory(user=owner, issuer="backend", external_id="7")
    factories.ExternalIdentityFactory(user=owner, issuer="backend", external_id="8")
    assert principal(service.credential, "7").user_id == owner.pk
    assert principal(service.credential, "8").user_id == owner.pk


def test_without_a_name_a_service_acts_for_its_owner(service):
    assert principal(service.credential).user_id == service.owner_id


@pytest.mark.parametrize("blank", ["", "   "])
def test_an_agent_that_lost_the_name_does_not_act_for_its_owner(service, agent, api, blank):
    answer = api(service, blank).get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_user")
    assert not Grant.objects.exists()
    assert api(wrong_secret(service.credential), blank).get(LEGACIES).status_code == 401
    answer = api(agent, blank).get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_user")


def test_the_issuer_local_means_the_user_names_of_this_deployment(owner):
    local = factories.AgentFactory(service=True, issuer="local")
    key = factories.AgentKeyFactory(agent=local).credential
    assert principal(key, "owner").user_id == owner.pk
    made = principal(key, "newcomer").user_id
    assert User.objects.get(username="newcomer").pk == made
    assert not ExternalIdentity.objects.exists()
    # The full-width spelling is the same name to a sign-in form.
    assert principal(key, "ｏｗｎｅｒ").user_id == owner.pk
    new = principal(key, "ｎｅｗ").user_id
    assert principal(key, "new").user_id == new


def test_a_local_name_that_can_not_be_one_is_refused(db, api):
    key = factories.AgentKeyFactory(agent__service=True, agent__issuer="local")
    before = User.objects.count()
    answer = api(key, "not a name").get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_username")
    answer = api(key, "n" * 151).get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_username")
    assert User.objects.count() == before


def test_a_name_in_any_script_reaches_its_person(service, api):
    assert api(service, "Ülkü 二").post(LEGACIES, {"name": "Büyükanne"}).status_code == 201
    person = User.objects.get(identities__external_id="ülkü 二")
    assert person.get_full_name() == "Ülkü 二"
    assert person.get_short_name() == "Ülkü"


@pytest.mark.parametrize("joined", ["maria,jonas", "maria, jonas", "maria,", ","])
@pytest.mark.parametrize("method", ["get", "post"])
def test_a_header_that_is_sent_twice_names_nobody(service, api, joined, method):
    """Servers join both by a comma, which made one more person."""
    before = User.objects.count()
    answer = getattr(api(service, joined), method)(LEGACIES, {"name": "Rosa"} if method == "post" else None)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_user")
    assert "%2C" in answer.json()["detail"]
    assert User.objects.count() == before


def test_an_id_with_a_comma_is_sent_with_another_text_in_its_place(service, api):
    assert api(service, "cn=maria%2Cou=staff").post(LEGACIES, {"name": "Rosa"}).status_code == 201
    assert api(service, "cn=maria%2Cou=staff").get(LEGACIES).json()["count"] == 1
    assert User.objects.filter(identities__external_id="cn=maria%2cou=staff").exists()


@pytest.mark.parametrize("name", ["x" * 256, "a\x00b"])
def test_a_name_that_can_not_be_an_id_is_refused(service, api, name):
    answer = api(service, name).get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_user")


def test_a_name_that_is_not_utf8_is_refused(service, api):
    answer = api(service).get(LEGACIES, HTTP_X_KEEPSAKE_USER="caf\xe9")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_user")


def test_a_personal_agent_acts_for_its_owner_only(agent, member, api):
    assert api(agent, "owner").get(LEGACIES).status_code == 200
    answer = api(agent, "member").get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")


def test_a_revoked_grant_keeps_the_agent_out_from_the_next_request(owner, agent, api):
    client = api(agent)
    assert client.get(LEGACIES).status_code == 200
    actions.grant_set(queries.principal_for_person(owner.pk), agent.pk, revoked=True)
    answer = client.get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (403, "not_allowed")
    actions.grant_set(queries.principal_for_person(owner.pk), agent.pk, revoked=False)
    assert client.get(LEGACIES).status_code == 200


def test_a_key_without_the_scope_write_only_reads(agent, api):
    key = factories.AgentKeyFactory(agent=agent, scopes=["read"])
    assert api(key).get(LEGACIES).status_code == 200
    answer = api(key).post(LEGACIES, {"name": "Rosa"})
    assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")


def test_a_key_without_the_scope_read_only_writes(agent, api):
    key = factories.AgentKeyFactory(agent=agent, scopes=["write"])
    assert api(key).post(LEGACIES, {"name": "Rosa"}).status_code == 201
    answer = api(key).get(LEGACIES)
    assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")


class TestWhatAnAgentMaySee:
    """Role and grant make the effective categories and sources."""

    def made(self, role="", **grant):
        agent = factories.AgentFactory(role=role)
        if grant:
            factories.GrantFactory(agent=agent, user=agent.owner, **grant)
        return principal(factories.AgentKeyFactory(agent=agent).credential)

    def test_without_a_role_everything_but_procedures(self, db):
        made = self.made()
        assert {"profile", "event", "relationship_dynamic"} <= made.categories
        assert "procedural" not in made.categories
        assert made.sources == {"chunks", "turns", "facts"}

    def test_a_role_has_its_allowlist_and_no_other_sources(self, db):
        made = self.made("planner")
        assert made.categories == {"goals", "tasks", "project", "procedural"}
        assert made.sources == set()

    def test_a_grant_narrows_the_categories_of_a_role(self, db):
        assert self.made("planner", categories=["tasks", "profile"]).categories == {"tasks"}
        assert self.made("planner", categories=[]).categories == set()

    def test_a_grant_gives_a_role_sources(self, db):
        assert self.made("planner", sources=["facts"]).sources == {"facts"}

    def test_a_grant_takes_sources_from_an_agent_without_a_role(self, db):
        assert self.made(sources=[]).sources == set()

    def test_a_role_that_is_gone_from_the_file_sees_nothing(self, db):
        assert self.made("astronaut").categories == set()


class TestNarrowingToARole:
    """A request can name a role, which takes away and never gives."""

    def test_a_person_sees_what_an_agent_in_the_role_would(self, owner):
        seen = narrowed(queries.principal_for_person(owner.pk), "stylist")
        assert seen.categories == {"preference", "tone", "style"}
        assert seen.sources == set()
        assert seen.kind == "person"

    def test_an_agent_gains_nothing_by_it(self, owner, agent):
        factories.GrantFactory(user=owner, agent=agent, categories=["tone", "goals"])
        before = principal(agent.credential)
        assert narrowed(before, "stylist").categories == {"tone"}
        assert narrowed(before, "planner").categories == {"goals"}
        assert narrowed(before, "") == before

    def test_an_unknown_role_is_refused(self, owner):
        with pytest.raises(Refused, match="emperor"):
            narrowed(queries.principal_for_person(owner.pk), "emperor")


def test_staff_have_a_principal_of_their_own(staff, owner):
    made = queries.principal_for_staff(staff)
    assert (made.kind, made.user_id, made.actor_id) == ("staff", None, str(staff.pk))
    with pytest.raises(NotFound):
        queries.principal_for_staff(owner)


def test_a_job_works_with_the_rights_of_the_person(owner):
    made = queries.principal_for_job(owner.pk)
    assert (made.kind, made.user_id, made.actor.kind) == ("job", owner.pk, "job")


def test_a_page_has_the_principal_of_whoever_is_signed_in(owner, django_assert_num_queries):
    request = RequestFactory().get("/")
    request.user = owner
    with django_assert_num_queries(1):
        assert principal_of(request).user_id == owner.pk
    request.user = AnonymousUser()
    with pytest.raises(NotAuthenticated):
        principal_of(request)
    with pytest.raises(NotAuthenticated):
        principal_of(RequestFactory().get("/"))


def test_a_principal_that_acts_for_nobody_has_nothing_of_its_own():
    nobody = Principal(kind="staff", actor_id="1", user_id=None, scopes=frozenset({"read"}))
    must_read(nobody)
    with pytest.raises(NotFound):
        must_act_for(nobody)
    with pytest.raises(NotAllowed):
        must_write(nobody)


def test_an_agent_does_not_write_while_memory_is_off(owner, agent):
    person = queries.principal_for_person(owner.pk)
    actions.preferences_set(person, has_memory=False)
    with pytest.raises(NotAllowed) as refused:
        must_remember(principal(agent.credential))
    assert refused.value.code == "memory_off"
    assert must_remember(queries.principal_for_person(owner.pk)) == owner.pk


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("issuer", ["backend", "local"])
def test_eight_first_requests_at_once_make_one_person(at_once, issuer):
    made = at_once(lambda _: actions.user_resolve(issuer, "fortytwo").pk, 8)
    assert len(set(made)) == 1
    assert User.objects.count() == 1
    assert ExternalIdentity.objects.count() == (issuer == "backend")


@pytest.mark.django_db(transaction=True)
def test_eight_first_requests_of_one_person_over_http(service, api, at_once):
    answers = at_once(lambda _: api(service, "42").post(LEGACIES, {"name": "Rosa"}).status_code, 8)
    assert answers == [201] * 8
    assert ExternalIdentity.objects.count() == 1
    assert Grant.objects.count() == 1
