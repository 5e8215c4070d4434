"""The admin of people, agents and legacies."""

import re
from datetime import timedelta
from uuid import UUID

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.urls import reverse
from django.utils import timezone
from django.utils.html import strip_tags

from accounts import actions
from accounts.models import AgentKey, Grant, Preferences, User
from accounts.policy import parked_name
from accounts.queries import principal_for_person, principal_for_staff
from journal.exceptions import NotAllowed, NotFound
from journal.models import Change
from tests import factories

RECORDS = ["agent", "agentkey", "externalidentity", "grant", "invitation", "legacy", "member", "preferences"]


@pytest.fixture
def everything(owner, member, legacy, agent, service):
    factories.ExternalIdentityFactory(user=owner)
    actions.member_invite(principal_for_person(owner.pk), legacy.pk, "somebody")
    Grant.objects.create(user=owner, agent=service)
    Preferences.objects.create(user=owner)


def listed(model):
    return reverse(f"admin:accounts_{model}_changelist")


def one(model, pk):
    return reverse(f"admin:accounts_{model}_change", args=[pk])


@pytest.mark.parametrize("model", [*RECORDS, "user"])
@pytest.mark.parametrize("who", ["staff", "moderator"])
def test_staff_read_every_record(request, api, everything, model, who):
    client = api(request.getfixturevalue(who))
    assert client.get(reverse("admin:index")).status_code == 200
    answer = client.get(listed(model) + "?q=owner")
    assert answer.status_code == 200
    row = apps.get_model("accounts", model).objects.first()
    assert client.get(one(model, row.pk)).status_code == 200


@pytest.mark.parametrize("model", RECORDS)
def test_nobody_edits_a_record_superusers_included(api, staff, everything, model):
    rows = apps.get_model("accounts", model).objects
    row, before = rows.first(), rows.count()
    client = api(staff)
    assert client.get(reverse(f"admin:accounts_{model}_add")).status_code == 403
    assert client.post(one(model, row.pk), {}, format="multipart").status_code == 403
    assert (
        client.post(
            reverse(f"admin:accounts_{model}_delete", args=[row.pk]), {"post": "yes"}, format="multipart"
        ).status_code
        == 403
    )
    data = {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes"}
    client.post(listed(model), data, format="multipart")
    assert rows.count() == before


@pytest.mark.parametrize("who", ["owner", "member", "stranger", None])
@pytest.mark.parametrize("model", [*RECORDS, "user"])
def test_others_do_not_get_in(request, api, db, who, model):
    client = api(who and request.getfixturevalue(who))
    answer = client.get(listed(model))
    assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/admin/login/")


@pytest.mark.parametrize(
    ("model", "text", "hits"),
    [
        ("agent", "service", 1),
        ("agentkey", "service", 1),
        ("agentkey", "no such key", 0),
        ("agent", "backend", 1),
        ("externalidentity", "owner", 1),
        ("preferences", "Olga", 1),
        ("member", "Rosa", 2),
        ("member", "owner", 1),
        ("legacy", "Rosa", 1),
        ("grant", "owner", 1),
        ("user", "Olga", 1),
        ("user", "nobody of that name", 0),
    ],
)
def test_rows_are_found_by_name(api, staff, everything, model, text, hits):
    answer = api(staff).get(listed(model), {"q": text})
    assert answer.context["cl"].result_count == hits


def test_rows_are_found_by_id(api, staff, everything, legacy):
    assert api(staff).get(listed("legacy"), {"q": str(legacy.pk)}).context["cl"].result_count == 1


@pytest.mark.parametrize("model", ["agent", "agentkey", "grant", "member", "externalidentity"])
def test_lists_take_the_same_queries_however_long(api, staff, everything, model, django_assert_num_queries):
    client = api(staff)
    make = {
        "agent": factories.AgentFactory,
        "agentkey": factories.AgentKeyFactory,
        "grant": factories.GrantFactory,
        "member": factories.MemberFactory,
        "externalidentity": factories.ExternalIdentityFactory,
    }[model]
    make.create_batch(10)
    with django_assert_num_queries(5):
        client.get(listed(model))


def test_the_hash_of_a_secret_is_not_shown(api, staff, agent):
    key = AgentKey.objects.get()
    assert key.secret_hmac not in api(staff).get(one("agentkey", key.pk)).content.decode()


def test_no_name_of_a_legacy_is_written_into_the_admin_log(legacy, everything):
    assert "Rosa" not in str(legacy)
    assert all("Rosa" not in str(member) for member in legacy.memberships.all())


def test_a_button_revokes_keys_through_the_action(api, moderator, owner, agent):
    spare = factories.AgentKeyFactory(agent=agent)
    key = agent.keys.exclude(pk=spare.pk).get()
    data = {"action": "revoke_selected", "_selected_action": [str(key.pk)]}
    answer = api(moderator).post(listed("agentkey"), data, format="multipart", follow=True)
    assert "1 of 1 revoked" in answer.content.decode()
    key.refresh_from_db()
    spare.refresh_from_db()
    assert key.revoked_at
    assert spare.revoked_at is None
    change = Change.objects.of_owner(owner.pk).get()
    assert (change.event, change.actor_kind, change.actor_id) == ("KEY", "staff", str(moderator.pk))
    data["_selected_action"] = [str(key.pk), str(spare.pk)]
    answer = api(moderator).post(listed("agentkey"), data, format="multipart", follow=True)
    assert "1 of 2 revoked; the others were already" in answer.content.decode()


def dialog(client, path, **data):
    return client.post(path, {"_form_submitted": "True", **data}, format="multipart")


def told(client):
    return [str(message) for message in client.get(listed("agent")).context["messages"]]


class TestAgentsAndKeys:
    """Superusers make them, every moderator ends them."""

    def made(self, owner="owner", **values):
        return {"owner": owner, "name": "planner bot", "kind": "service", "role": "planner", "issuer": "", **values}

    def test_a_superuser_makes_an_agent(self, api, staff, owner):
        answer = dialog(api(staff), f"{listed('agent')}make/", **self.made())
        agent = owner.agents.get()
        assert answer["HX-Redirect"] == one("agent", agent.pk)
        assert (agent.name, agent.kind, agent.role, agent.issuer) == (
            "planner bot",
            "service",
            "planner",
            f"agent:{agent.pk}",
        )
        change = Change.objects.of_owner(owner.pk).get()
        assert (change.event, change.actor_kind, change.actor_id) == ("ADD", "staff", str(staff.pk))

    @pytest.mark.parametrize("values", [{"owner": "nobody"}, {"name": " "}, {"role": "emperor"}, {"kind": "both"}])
    def test_what_can_t_be_made_is_told_in_the_dialog(self, api, staff, owner, values):
        answer = dialog(api(staff), f"{listed('agent')}make/", **self.made(**values))
        assert answer.status_code == 200
        assert 'id="dialog-form"' in answer.content.decode()
        assert not owner.agents.exists()

    def test_a_second_agent_of_the_name_is_told(self, api, staff, owner, agent):
        client = api(staff)
        dialog(client, f"{listed('agent')}make/", **self.made(name="agent"))
        assert told(client) == ["There is an agent named agent already."]
        assert owner.agents.count() == 1

    def test_a_key_is_shown_once_and_works(self, api, staff, owner, agent):
        client = api(staff)
        answer = dialog(client, f"{one('agent', agent.pk)[:-7]}make-key/", scopes=["read"], last_day="2100-01-31")
        credential = re.search(r"ks_\w{12}\.[\w-]+", answer.content.decode())[0]
        assert "no-store" in answer["Cache-Control"]
        assert api(credential).get("/api/v1/agents/").status_code == 200
        key = agent.keys.latest("created_at")
        assert (key.scopes, key.expires_at.isoformat()) == (["read"], "2100-01-31T23:59:59.999999+00:00")
        assert Change.objects.of_owner(owner.pk).get().meta == {"made": str(key.pk)}
        for path in (one("agentkey", key.pk), listed("agentkey"), one("agent", agent.pk)):
            assert credential.partition(".")[2] not in client.get(path).content.decode()

    @pytest.mark.parametrize(
        "values", [{"scopes": []}, {"scopes": ["all"]}, {"scopes": ["read"], "last_day": "2001-01-01"}]
    )
    def test_a_key_that_makes_no_sense_is_not_made(self, api, staff, agent, values):
        answer = dialog(api(staff), f"{one('agent', agent.pk)[:-7]}make-key/", **values)
        assert 'id="dialog-form"' in answer.content.decode()
        assert agent.keys.count() == 1

    def test_a_moderator_makes_neither(self, api, moderator, owner, agent):
        client = api(moderator)
        assert dialog(client, f"{listed('agent')}make/", **self.made()).status_code == 403
        path = f"{one('agent', agent.pk)[:-7]}make-key/"
        assert dialog(client, path, scopes=["read"]).status_code == 403
        for page in (client.get(listed("agent")), client.get(one("agent", agent.pk))):
            assert "New agent" not in page.content.decode()
            assert "New key" not in page.content.decode()
        for make in (
            lambda: actions.agent_create(principal_for_staff(moderator), "bot", owner_id=owner.pk),
            lambda: actions.agent_key_create(principal_for_staff(moderator), agent.pk, ["read"]),
        ):
            with pytest.raises(NotAllowed):
                make()
        assert (owner.agents.count(), agent.keys.count()) == (1, 1)

    def test_a_superuser_makes_none_for_nobody(self, staff):
        nobody = UUID("00000000-0000-4000-8000-000000000000")
        for make in (
            lambda: actions.agent_create(principal_for_staff(staff), "bot"),
            lambda: actions.agent_create(principal_for_staff(staff), "bot", owner_id=nobody),
            lambda: actions.agent_key_create(principal_for_staff(staff), nobody, ["read"]),
        ):
            with pytest.raises(NotFound):
                make()

    def test_a_refusal_is_told(self, api, staff, agent, monkeypatch):
        def refuse(*args, **kwargs):
            raise NotFound("There is no such agent.")

        monkeypatch.setattr("accounts.admin.agents.actions.agent_key_create", refuse)
        client = api(staff)
        dialog(client, f"{one('agent', agent.pk)[:-7]}make-key/", scopes=["read"])
        assert told(client) == ["There is no such agent."]

    def test_a_key_is_revoked_by_dialog(self, api, moderator, agent):
        key, client = agent.keys.get(), api(moderator)
        client.get(f"{listed('agentkey')}{key.pk}/revoke/")
        key.refresh_from_db()
        assert key.revoked_at is None
        dialog(client, f"{listed('agentkey')}{key.pk}/revoke/")
        assert told(client) == [f"ks_{key.public} is revoked."]
        assert api(agent).get("/api/v1/agents/").status_code == 401

    def test_keys_say_how_they_stand(self, api, staff, agent):
        key = agent.keys.get()
        past, now = timezone.now() - timedelta(days=1), timezone.now()
        standing = {"unused": key}
        standing["valid"] = factories.AgentKeyFactory(agent=agent, last_used_at=now)
        standing["expired"] = factories.AgentKeyFactory(agent=agent, last_used_at=past, expires_at=past)
        standing["revoked"] = factories.AgentKeyFactory(agent=agent, last_used_at=past, revoked_at=past)
        client = api(staff)
        page = client.get(listed("agentkey")).content.decode()
        for label in ("never used", "in use", "expired", "revoked"):
            assert label in page
        for value, meant in standing.items():
            shown = {each.pk for each in client.get(listed("agentkey"), {"is": value}).context["cl"].result_list}
            assert shown == ({meant.pk, key.pk} if value == "valid" else {meant.pk})
        found = client.get(listed("agentkey"), {"q": f"ks_{key.public}.whatever"}).context["cl"].result_list
        assert [each.pk for each in found] == [key.pk]


class TestPeople:
    """The one model that staff edit."""

    def form(self, **values):
        return {"username": "olga", "display_name": "Olga", "email": "", **values}

    def test_a_superuser_makes_a_person_who_can_sign_in(self, api, staff):
        password = "a long enough passphrase"
        data = self.form(usable_password="true", password1=password, password2=password)
        answer = api(staff).post(reverse("admin:accounts_user_add"), data, format="multipart")
        assert answer.status_code == 302, answer.content
        person = User.objects.get(username="olga")
        assert person.check_password(password)
        assert (person.display_name, person.is_staff) == ("Olga", False)

    def test_a_moderator_makes_nobody(self, api, moderator):
        password = "a long enough passphrase"
        data = self.form(usable_password="true", password1=password, password2=password)
        answer = api(moderator).post(reverse("admin:accounts_user_add"), data, format="multipart")
        assert answer.status_code == 403
        assert User.objects.get() == moderator

    def test_a_person_can_be_made_without_a_password(self, api, staff):
        data = self.form(usable_password="false")
        assert api(staff).post(reverse("admin:accounts_user_add"), data, format="multipart").status_code == 302
        assert not User.objects.get(username="olga").has_usable_password()

    def test_a_weak_password_is_refused(self, api, staff):
        data = self.form(usable_password="true", password1="password", password2="password")
        assert api(staff).post(reverse("admin:accounts_user_add"), data, format="multipart").status_code == 200
        assert not User.objects.filter(username="olga").exists()

    def test_a_moderator_changes_a_person_but_neither_user_name_nor_rights(self, api, moderator, owner):
        data = self.form(is_staff="on", is_superuser="on", password="x")
        assert api(moderator).post(one("user", owner.pk), data, format="multipart").status_code == 302
        before = owner.password
        owner.refresh_from_db()
        assert (owner.display_name, owner.is_staff, owner.is_superuser) == ("Olga", False, False)
        assert (owner.username, owner.password) == ("owner", before)

    def test_a_superuser_changes_a_user_name(self, api, staff, owner):
        assert api(staff).post(one("user", owner.pk), self.form(), format="multipart").status_code == 302
        owner.refresh_from_db()
        assert owner.username == "olga"

    def test_the_form_keeps_nobody_out_past_the_log(self, api, staff, owner):
        assert api(staff).post(one("user", owner.pk), self.form(), format="multipart").status_code == 302
        owner.refresh_from_db()
        assert owner.is_active

    def test_a_moderator_sees_nothing_of_passwords(self, api, moderator, staff):
        person = factories.UserFactory(password="a long passphrase")
        for each in (person, staff):
            page = api(moderator).get(one("user", each.pk)).content.decode()
            assert "password" not in page.replace("password_change", "")
        assert "password" in api(staff).get(one("user", person.pk)).content.decode().replace("password_change", "")

    def test_a_superuser_makes_staff(self, api, staff, owner):
        data = self.form(is_staff="on")
        assert api(staff).post(one("user", owner.pk), data, format="multipart").status_code == 302
        owner.refresh_from_db()
        assert owner.is_staff

    def test_a_moderator_touches_no_account_of_staff(self, api, moderator, staff):
        client = api(moderator)
        assert client.post(one("user", staff.pk), self.form(), format="multipart").status_code == 403
        password = reverse("admin:auth_user_password_change", args=[staff.pk])
        data = {"usable_password": "true", "password1": "a long passphrase", "password2": "a long passphrase"}
        assert client.post(password, data, format="multipart").status_code == 403
        data = {"action": "deactivate", "_selected_action": [str(staff.pk)]}
        client.post(listed("user"), data, format="multipart")
        staff.refresh_from_db()
        assert staff.is_active
        assert not staff.check_password("a long passphrase")

    def test_a_superuser_gives_a_person_a_new_password_and_a_moderator_none(self, api, moderator, staff, owner):
        path = reverse("admin:auth_user_password_change", args=[owner.pk])
        data = {"usable_password": "true", "password1": "a long passphrase", "password2": "a long passphrase"}
        assert api(moderator).get(path).status_code == 403
        assert api(moderator).post(path, data, format="multipart").status_code == 403
        owner.refresh_from_db()
        assert not owner.has_usable_password()
        assert api(staff).post(path, data, format="multipart").status_code == 302
        owner.refresh_from_db()
        assert owner.check_password("a long passphrase")

    def test_people_are_kept_out_and_let_in_again(self, api, moderator, owner, agent):
        session, key = api(owner), api(agent)
        data = {"action": "deactivate", "_selected_action": [str(owner.pk)]}
        answer = api(moderator).post(listed("user"), data, format="multipart", follow=True)
        assert "1 of 1 kept out" in answer.content.decode()
        assert session.get("/api/v1/agents/").status_code == 401
        assert key.get("/api/v1/agents/").status_code == 401
        assert LogEntry.objects.get().object_id == str(owner.pk)
        data["action"] = "activate"
        for _ in range(2):
            api(moderator).post(listed("user"), data, format="multipart")
        assert key.get("/api/v1/agents/").status_code == 200
        changes = Change.objects.of_owner(owner.pk)
        assert [(each.event, each.object_type, each.object_id, each.meta) for each in changes] == [
            ("UPDATE", "user", str(owner.pk), {"active": False}),
            ("UPDATE", "user", str(owner.pk), {"active": True}),
        ]
        assert {(each.actor_kind, each.actor_id) for each in changes} == {("staff", str(moderator.pk))}

    def test_one_person_is_kept_out_and_let_in_by_dialog(self, api, moderator, staff, owner):
        client = api(moderator)
        page = client.get(one("user", owner.pk)).content.decode()
        assert ("keep-out/" in page, "let-in/" in page) == (True, False)
        dialog(client, f"{listed('user')}{owner.pk}/keep-out/")
        assert told(client) == ["1 of 1 kept out."]
        owner.refresh_from_db()
        assert not owner.is_active
        page = client.get(one("user", owner.pk)).content.decode()
        assert ("keep-out/" in page, "let-in/" in page) == (False, True)
        dialog(client, f"{listed('user')}{owner.pk}/let-in/")
        owner.refresh_from_db()
        assert owner.is_active
        assert "keep-out/" not in client.get(one("user", staff.pk)).content.decode()
        dialog(client, f"{listed('user')}{staff.pk}/keep-out/")
        staff.refresh_from_db()
        assert staff.is_active

    @pytest.mark.parametrize("who", ["staff", "moderator"])
    def test_nobody_deletes_people_here(self, request, api, owner, who):
        client = api(request.getfixturevalue(who))
        path = reverse("admin:accounts_user_delete", args=[owner.pk])
        assert client.post(path, {"post": "yes"}, format="multipart").status_code == 403
        data = {"action": "delete_selected", "_selected_action": [str(owner.pk)], "post": "yes"}
        client.post(listed("user"), data, format="multipart")
        assert User.objects.filter(pk=owner.pk).exists()


class TestParkedNames:
    """What nobody is found by is shown to staff, and superusers give it a name."""

    @pytest.fixture
    def parked(self, owner):
        factories.ExternalIdentityFactory(external_id="spoken for")
        return factories.ExternalIdentityFactory(user=owner, external_id=parked_name(7, "ABC", 255))

    def rename(self, client, identity, name):
        return dialog(client, f"{one('externalidentity', identity.pk)[:-7]}rename/", name=name)

    def test_they_are_listed(self, api, moderator, parked):
        factories.UserFactory(username=parked_name(8, "Karl", 150))
        for model in ("externalidentity", "user"):
            assert api(moderator).get(listed(model), {"name": "parked"}).context["cl"].result_count == 1

    def test_no_request_spells_one(self, api, service, owner, parked):
        for spelled in (parked.external_id, "ABC", "abc"):
            made = api(service, spelled).post("/api/v1/legacies/", {"name": "Rosa"}, format="json")
            assert made.status_code == 201
        assert not owner.memberships.exists()

    def test_a_superuser_renames_one(self, api, staff, moderator, owner, service, parked):
        assert self.rename(api(moderator), parked, "abc").status_code == 403
        for bad in ("spoken for", "p\u0430ul"):
            self.rename(api(staff), parked, bad)
            parked.refresh_from_db()
            assert parked.external_id.startswith("PARKED")
        self.rename(api(staff), parked, "ABC-2")
        parked.refresh_from_db()
        assert parked.external_id == "abc-2"
        change = Change.objects.of_owner(owner.pk).get()
        assert (change.event, change.actor_id, change.meta) == ("UPDATE", str(staff.pk), {"issuer": "backend"})
        assert api(service, "abc-2").post("/api/v1/legacies/", {"name": "Rosa"}, format="json").status_code == 201
        assert owner.memberships.exists()


def test_the_list_of_agents_shows_the_issuers_of_services_and_no_whole_ids(api, staff, owner, service):
    mine = actions.agent_create(principal_for_person(owner.pk), "Diary")
    shown = strip_tags(api(staff).get(listed("agent")).content.decode())
    assert mine.issuer not in shown
    assert service.issuer in shown
