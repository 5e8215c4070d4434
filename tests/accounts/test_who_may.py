"""Every address of this room, tried by everybody."""

import pytest
from django.utils import timezone

from accounts.actions import member_invite
from accounts.models import Agent, AgentKey, Invitation, InvitationBlock, Legacy, Member
from accounts.principals import SCOPES, Principal
from accounts.queries import principal_for_person, principal_for_staff
from tests import factories
from tests.conftest import taken_back

CALLERS = ["owner", "member", "stranger", "staff", "agent", "other_agent", "nobody"]
#                                                         owner member stranger staff agent other nobody
TABLE = [
    ("GET", "legacies/", None, [200, 200, 200, 200, 200, 200, 401]),
    ("POST", "legacies/", {"name": "Rosa"}, [201, 201, 201, 201, 201, 201, 401]),
    ("POST", "legacies/", {"name": "Rosa", "members": ["member"]}, [201, 201, 201, 201, 403, 403, 401]),
    ("GET", "legacies/{legacy}/", None, [200, 200, 404, 404, 200, 404, 401]),
    ("PATCH", "legacies/{legacy}/", {"name": "Rosa"}, [200, 403, 404, 404, 200, 404, 401]),
    ("GET", "legacies/{legacy}/picture/", None, [404, 404, 404, 404, 404, 404, 401]),
    ("DELETE", "legacies/{legacy}/picture/", None, [404, 403, 404, 404, 404, 404, 401]),
    ("GET", "legacies/{legacy}/members/", None, [200, 200, 404, 404, 200, 404, 401]),
    ("POST", "legacies/{legacy}/members/", {"name": "newcomer"}, [202, 403, 404, 404, 403, 403, 401]),
    ("GET", "legacies/{legacy}/invitations/", None, [200, 200, 404, 404, 200, 404, 401]),
    ("DELETE", "legacies/{legacy}/invitations/{sent}/", None, [204, 403, 404, 404, 403, 403, 401]),
    ("GET", "invitations/", None, [200, 200, 200, 200, 200, 200, 401]),
    ("POST", "invitations/{code}/accept/", {}, [404, 404, 200, 404, 403, 403, 401]),
    ("POST", "invitations/{waiting}/decline/", {}, [404, 404, 200, 404, 403, 403, 401]),
    ("POST", "invitations/{code}/block/", {}, [404, 404, 200, 404, 403, 403, 401]),
    ("GET", "invitations/blocks/", None, [200, 200, 200, 200, 200, 200, 401]),
    ("DELETE", "invitations/blocks/{block}/", None, [404, 404, 204, 404, 403, 403, 401]),
    ("PATCH", "legacies/{legacy}/members/{member}/", {"role": "owner"}, [200, 403, 404, 404, 403, 403, 401]),
    ("DELETE", "legacies/{legacy}/members/{member}/", None, [204, 204, 404, 404, 403, 403, 401]),
    ("GET", "me/preferences/", None, [200, 200, 200, 200, 200, 200, 401]),
    ("PATCH", "me/preferences/", {"review": "before"}, [200, 200, 200, 200, 403, 403, 401]),
    ("GET", "agents/", None, [200, 200, 200, 200, 200, 200, 401]),
    ("POST", "agents/", {"name": "new"}, [201, 201, 201, 201, 403, 403, 401]),
    ("POST", "agents/{agent}/keys/", {}, [201, 404, 404, 404, 403, 403, 401]),
    ("DELETE", "agents/{agent}/keys/{key}/", None, [204, 404, 404, 404, 403, 403, 401]),
    ("GET", "agents/{agent}/grant/", None, [200, 404, 404, 404, 200, 404, 401]),
    ("PATCH", "agents/{agent}/grant/", {"revoked": True}, [200, 404, 404, 404, 403, 403, 401]),
]


def send(client, method, path, body):
    return getattr(client, method.lower())("/api/v1/" + path, body)


def test_who_may(request, api, owner, member, stranger, legacy, agent):
    sent = member_invite(principal_for_person(owner.pk), legacy.pk, "stranger")
    callers = {name: api(None if name == "nobody" else request.getfixturevalue(name)) for name in CALLERS}
    spare = factories.AgentKeyFactory(agent=agent)
    ids = {
        "legacy": legacy.pk,
        "member": legacy.memberships.get(user=member).pk,
        "agent": agent.pk,
        "key": spare.pk,
        "sent": sent.invitation.pk,
        "waiting": sent.invitation.pk,
        "code": sent.code,
        "block": InvitationBlock.objects.create(user=stranger, inviter=member).pk,
    }
    for method, path, body, statuses in TABLE:
        for (caller, client), status in zip(callers.items(), statuses, strict=True):
            with taken_back():
                answer = send(client, method, path.format(**ids), body)
                assert answer.status_code == status, (method, path, body, caller, answer.content)
                if status >= 400:
                    assert set(answer.json()) >= {"detail", "code"}, (method, path, body, caller)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "legacies/{id}/", None),
        ("PATCH", "legacies/{id}/", {"name": "Rosa"}),
        ("GET", "legacies/{id}/members/", None),
        ("POST", "legacies/{id}/members/", {"name": "member"}),
        ("GET", "legacies/{id}/invitations/", None),
        ("DELETE", "legacies/{id}/invitations/{id}/", None),
        ("POST", "agents/{id}/keys/", {}),
        ("DELETE", "agents/{id}/keys/{id}/", None),
        ("GET", "agents/{id}/grant/", None),
        ("PATCH", "agents/{id}/grant/", {"revoked": True}),
    ],
)
def test_what_is_forbidden_looks_like_what_is_missing(stranger, legacy, agent, api, method, path, body):
    """A stranger gets the same bytes for somebody else's object as for one that never was."""
    key = factories.AgentKeyFactory(agent=agent)
    theirs = path.format(id=legacy.pk) if "legacies" in path else path.replace("{id}", str(agent.pk), 1)
    theirs = theirs.format(id=key.pk)
    missing = path.format(id="00000000-0000-4000-8000-000000000000")
    answers = [send(api(stranger), method, each, body) for each in (theirs, missing)]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content


@pytest.mark.parametrize("caller", ["owner", "agent"])
@pytest.mark.parametrize(
    ("path", "key_queries"),
    # With a key: the principal, then the count and the rows of the list. A session adds the session and its user.
    [("legacies/", 3), ("legacies/{legacy}/", 2), ("legacies/{legacy}/members/", 4), ("me/preferences/", 3)],
)
def test_lists_take_the_same_queries_however_long(
    request, api, owner, legacy, agent, django_assert_num_queries, caller, path, key_queries
):
    client = api(request.getfixturevalue(caller))
    address = "/api/v1/" + path.format(legacy=legacy.pk)
    client.get(address)  # The first visit of a key leaves a grant.
    queries = key_queries + (2 if caller == "owner" else 0)
    with django_assert_num_queries(queries):
        client.get(address)
    for _ in range(5):
        factories.LegacyFactory(owner=owner)
        factories.MemberFactory(legacy=legacy)
    with django_assert_num_queries(queries):
        client.get(address)


def test_the_list_of_agents_takes_the_same_queries_however_long(api, owner, agent, django_assert_num_queries):
    client = api(owner)
    for _ in range(5):
        factories.AgentKeyFactory.create_batch(2, agent__owner=owner)
        # The session, its user, the principal; the count, the agents, their keys.
        with django_assert_num_queries(6):
            assert client.get("/api/v1/agents/").status_code == 200


def test_a_principal_that_acts_for_nobody_sees_nothing_and_staff_see_all(staff, owner, legacy, agent):
    nobody = Principal(kind="job", actor_id="1", user_id=None, scopes=frozenset(SCOPES))
    moderator = principal_for_staff(staff)
    member_invite(principal_for_person(owner.pk), legacy.pk)
    InvitationBlock.objects.create(user=owner, legacy=legacy)
    assert not Invitation.objects.waiting_for(nobody, timezone.now()).exists()
    assert not Invitation.objects.answerable_by(nobody, timezone.now()).exists()
    for model in (Agent, AgentKey, Invitation, InvitationBlock, Legacy, Member):
        assert not model.objects.visible_to(nobody).exists()
        assert model.objects.visible_to(moderator).count() == model.objects.count() > 0
