"""The admin of people, agents and legacies."""

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.urls import reverse

from accounts.models import AgentKey, Grant, Preferences, User
from journal.models import Change
from tests import factories

RECORDS = ["agent", "agentkey", "externalidentity", "grant", "legacy", "member", "preferences"]


@pytest.fixture
def moderator(db):
    """Staff without superuser rights."""
    return factories.UserFactory(username="moderator", is_staff=True)


@pytest.fixture
def everything(owner, member, legacy, agent, service):
    factories.ExternalIdentityFactory(user=owner)
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
def test_lists_take_the_same_queries_however_long(api, staff, everything, model, django_assert_max_num_queries):
    client = api(staff)
    make = {
        "agent": factories.AgentFactory,
        "agentkey": factories.AgentKeyFactory,
        "grant": factories.GrantFactory,
        "member": factories.MemberFactory,
        "externalidentity": factories.ExternalIdentityFactory,
    }[model]
    make.create_batch(10)
    with django_assert_max_num_queries(7):
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
    data = {"action": "revoke", "_selected_action": [str(key.pk)]}
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

    @pytest.mark.parametrize("who", ["staff", "moderator"])
    def test_nobody_deletes_people_here(self, request, api, owner, who):
        client = api(request.getfixturevalue(who))
        path = reverse("admin:accounts_user_delete", args=[owner.pk])
        assert client.post(path, {"post": "yes"}, format="multipart").status_code == 403
        data = {"action": "delete_selected", "_selected_action": [str(owner.pk)], "post": "yes"}
        client.post(listed("user"), data, format="multipart")
        assert User.objects.filter(pk=owner.pk).exists()
