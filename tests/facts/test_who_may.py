"""Every address of this room, tried by everybody, on a private and on a shared fact of the owner."""

import pytest

from tests.conftest import taken_back, with_key

from .conftest import facts_url, now, url

CALLERS = ["owner", "member", "stranger", "staff", "agent", "other_agent", "nobody"]
EDIT = {"content": "Rosa baked rye bread."}
#                                     owner member stranger staff agent other nobody
PRIVATE = [
    ("GET", "{legacy}/facts/", None, [200, 200, 404, 404, 200, 404, 401]),
    ("POST", "{legacy}/facts/", {"content": "Rosa sang.", "category": "hobby"}, [201, 201, 404, 404, 201, 404, 401]),
    ("GET", "{fact}/", None, [200, 404, 404, 404, 200, 404, 401]),
    ("PATCH", "{fact}/", EDIT, [200, 404, 404, 404, 403, 403, 401]),
    ("DELETE", "{fact}/", None, [204, 404, 404, 404, 403, 403, 401]),
    ("PATCH", "{fact}/visibility/", {"visibility": "shared"}, [200, 404, 404, 404, 403, 403, 401]),
    ("POST", "{fact}/approve/", None, [200, 404, 404, 404, 403, 403, 401]),
    ("POST", "{fact}/reject/", None, [200, 404, 404, 404, 403, 403, 401]),
    ("POST", "{fact}/restore/", None, [409, 404, 404, 404, 403, 403, 401]),
    ("GET", "{fact}/history/", None, [200, 404, 404, 404, 200, 404, 401]),
    ("PATCH", "{legacy}/members/{member}/", {"role": "owner"}, [200, 403, 404, 404, 403, 403, 401]),
    ("DELETE", "{legacy}/members/{member}/", None, [204, 204, 404, 404, 403, 403, 401]),
    ("DELETE", "{legacy}/members/{first}/", None, [409, 403, 404, 404, 403, 403, 401]),
    ("GET", "ended/", None, [200, 200, 200, 200, 200, 200, 401]),
    ("POST", "{legacy}/end/", None, [200, 403, 404, 404, 403, 403, 401]),
    ("POST", "{legacy}/restore/", None, [404, 404, 404, 404, 403, 403, 401]),
]
# Sharing lets other members read, and nothing else.
SHARED = [
    (method, path, body, [*statuses[:1], 200, *statuses[2:]] if (method, path) == ("GET", "{fact}/") else statuses)
    for method, path, body, statuses in PRIVATE
]


@pytest.mark.parametrize(("visibility", "table"), [("private", PRIVATE), ("shared", SHARED)], ids=["private", "shared"])
def test_who_may(request, api, add, owner, member, legacy, visibility, table):
    fact = add(owner, legacy, visibility=visibility)
    callers = {name: api(None if name == "nobody" else request.getfixturevalue(name)) for name in CALLERS}
    members = {person.user_id: person.pk for person in legacy.memberships.all()}
    ids = {"fact": fact.pk, "legacy": legacy.pk, "member": members[member.pk], "first": members[owner.pk]}
    before = now(fact)
    for method, path, body, statuses in table:
        where = f"/api/v1/{'facts/' if path.startswith('{fact}') else 'legacies/'}{path.format(**ids)}"
        for (caller, client), status in zip(callers.items(), statuses, strict=True):
            with taken_back():
                answer = getattr(client, method.lower())(where, body)
                assert answer.status_code == status, (method, path, caller, answer.content)
                if status >= 400:
                    assert set(answer.json()) >= {"detail", "code"}, (method, path, caller)
                    assert vars_of(now(fact)) == vars_of(before), (method, path, caller)


def vars_of(fact):
    return {name: value for name, value in vars(fact).items() if not name.startswith("_")}


@pytest.mark.parametrize(
    ("method", "what", "body"),
    [
        ("get", "", None),
        ("patch", "", EDIT),
        ("delete", "", None),
        ("patch", "visibility/", {"visibility": "shared"}),
        ("post", "approve/", None),
        ("post", "reject/", None),
        ("post", "restore/", None),
        ("get", "history/", None),
    ],
)
def test_what_is_forbidden_looks_like_what_is_missing(api, add, owner, legacy, member, method, what, body):
    theirs = url(add(owner, legacy), what)
    missing = f"/api/v1/facts/00000000-0000-4000-8000-000000000000/{what}"
    answers = [getattr(api(member), method)(path, body) for path in (theirs, missing)]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content


def test_a_key_with_admin_takes_the_person_s_decisions(api, add, owner, legacy, agent):
    fact = add(owner, legacy)
    admin = api(with_key(agent, ["read", "write", "admin"]))
    assert admin.patch(url(fact, "visibility/"), {"visibility": "shared"}).json()["visibility"] == "shared"
    assert admin.patch(url(fact), EDIT).status_code == 200
    assert admin.delete(url(fact)).status_code == 204


def test_a_key_that_only_reads_changes_nothing(api, add, owner, legacy, agent):
    fact = add(owner, legacy)
    reader = api(with_key(agent, ["read"]))
    assert reader.get(url(fact)).status_code == 200
    answer = reader.post(facts_url(legacy), {"content": "Rosa sang.", "category": "hobby"})
    assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")


def test_a_service_acts_for_whom_it_names(api, service, stranger):
    made = api(service, "42").post("/api/v1/legacies/", {"name": "Rosa", "members": ["43"]}).json()
    code = made["invitations"][0]["code"]
    path = f"/api/v1/legacies/{made['id']}/facts/"
    body = {"content": "Rosa sang.", "category": "hobby", "visibility": "shared"}
    assert api(service, "42").post(path, body).status_code == 201
    assert api(service, "43").get(path).status_code == 404
    assert api(service, "43").post(f"/api/v1/invitations/{code}/accept/").status_code == 200
    assert api(service, "43").get(path).json()["results"][0]["mine"] is False
    assert api(service, "44").get(path).status_code == 404


class TestWhatAGrantLeavesOut:
    def test_an_agent_without_facts_sees_and_writes_none(self, api, shared, owner, legacy, agent):
        from tests import factories

        fact = shared(owner, legacy)
        factories.GrantFactory(user=owner, agent=agent, sources=["turns"])
        assert api(agent).get(url(fact)).status_code == 404
        assert api(agent).get(facts_url(legacy)).json()["results"] == []
        answer = api(agent).post(facts_url(legacy), {"content": "Rosa sang.", "category": "hobby"})
        assert (answer.status_code, answer.json()["code"]) == (403, "source_not_allowed")

    def test_an_agent_without_turns_sees_no_quotes(self, api, extract, owner, legacy, agent):
        from tests import factories

        (fact,) = extract(owner, legacy, "Rosa kept bees.")
        assert api(agent).get(url(fact)).json()["quote"] == "Rosa kept bees."
        factories.GrantFactory._meta.model.objects.filter(agent=agent).update(sources=["facts"])
        shown = api(agent).get(url(fact)).json()
        assert shown["mine"] is True
        sources = [shown[name] for name in ("quote", "source_conversation", "source_index", "evidence")]
        assert sources == [None, None, None, []]

    def test_an_agent_whose_person_has_memory_off_writes_none(self, api, owner, legacy, agent):
        from tests import factories

        factories.PreferencesFactory(user=owner, has_memory=False)
        body = {"content": "Rosa sang.", "category": "hobby"}
        answer = api(agent).post(facts_url(legacy), body)
        assert (answer.status_code, answer.json()["code"]) == (403, "memory_off")
        assert api(owner).post(facts_url(legacy), body).status_code == 201
