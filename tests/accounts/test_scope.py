"""Whom the code that runs is acting for."""

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from structlog.contextvars import get_contextvars

from accounts import actions
from accounts.admin.people import moderator
from accounts.models import User
from accounts.queries import principal_for_job, principal_for_person
from accounts.scope import RequestScope, acting_as, current_principal, enter, working_for
from journal.actions import ledger_write
from memory_project.celery import app
from memory_project.staff.site import StaffSite
from tests import factories
from tests.test_rooms import ROOMS

PREFERENCES = "/api/v1/me/preferences/"


def nobody():
    with pytest.raises(LookupError):
        current_principal()
    return True


def test_a_scope_ends_with_its_block_and_lets_the_one_around_it_go_on(owner, member):
    outer, inner = principal_for_person(owner.pk), principal_for_job(member.pk)
    with acting_as(outer):
        with acting_as(inner):
            assert current_principal() is inner
            assert get_contextvars()["user_id"] == str(member.pk)
        assert current_principal() is outer
        assert get_contextvars()["actor"] == f"person:{owner.pk}"
    assert nobody()
    assert "actor" not in get_contextvars()


def seen_by(authenticate, request=None):
    """The principal that a view sees after ``authenticate(request)``; None for nobody."""
    seen = []

    def view(request):
        authenticate(request)
        try:
            seen.append(current_principal())
        except LookupError:
            seen.append(None)
        return HttpResponse()

    RequestScope(view)(request)
    return seen[0]


def test_a_request_acts_for_whoever_it_is_authenticated_as_and_leaves_nothing_behind(owner):
    principal = principal_for_person(owner.pk)
    assert seen_by(lambda request: enter(principal)) is principal
    assert nobody()
    with acting_as(principal):
        assert seen_by(lambda request: None) is None
        assert current_principal() is principal


@pytest.mark.parametrize("who", ["owner", "agent", "service"])
def test_every_way_in_enters_its_principal(request, api, monkeypatch, who):
    caller = request.getfixturevalue(who)
    seen = []
    real = actions.preferences_set

    def noted(principal, **values):
        seen.append((principal, current_principal()))
        return real(principal, **values)

    monkeypatch.setattr(actions, "preferences_set", noted)
    client = api(caller, "somebody new") if who == "service" else api(caller)
    client.patch(PREFERENCES, {"time_zone": "Europe/Rome"}, format="json")
    ((given, entered),) = seen
    assert given is entered
    assert given.kind == ("person" if isinstance(caller, User) else "agent")
    assert nobody()


def test_a_staffis_entered_in_the_admin(rf, staff):
    request = rf.get("/admin/")
    request.user = staff
    assert seen_by(moderator, request).kind == "staff"
    assert nobody()


def test_every_task_acts_for_somebody(monkeypatch):
    """For the deployment, until it enters the scope of a person."""
    app.loader.import_default_modules()
    tasks = {name: task for name, task in app.tasks.items() if name.split(".")[0] in ROOMS}
    assert len(tasks) >= 15
    for name, task in tasks.items():
        acting = []
        monkeypatch.setattr(task, "run", lambda *ids, acting=acting: acting.append(current_principal()))
        task("an id")
        assert [(each.kind, each.actor_id, each.user_id) for each in acting] == [("job", name, None)]
    assert nobody()


def test_a_job_that_writes_for_somebody_without_acting_for_them_is_found(owner, member):
    job = principal_for_job(owner.pk)
    with pytest.raises(AssertionError, match="outside of acting_as"), ledger_write(job.actor, owner.pk):
        pass
    with pytest.raises(AssertionError), working_for(member.pk, "test"), ledger_write(job.actor, owner.pk):
        pass
    with working_for(owner.pk, "test"), ledger_write(job.actor, owner.pk):
        pass


def test_every_page_of_the_admin_acts_for_its_moderator(client, db):
    staff = factories.UserFactory(is_staff=True, is_superuser=True)
    client.force_login(staff)
    seen = []
    site = StaffSite()
    request = RequestFactory().get("/admin/")
    request.user, request.session = staff, client.session
    site.admin_view(lambda request: seen.append(current_principal()) or HttpResponse())(request)
    assert [(each.kind, each.actor_id) for each in seen] == [("staff", str(staff.pk))]
