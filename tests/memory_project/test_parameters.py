"""What is sent besides what exists: misspelt parameters and fields, and values that mean nothing."""

import pytest

from tests import factories

LISTS = {
    "memories/": ("pinned", "reviewed", "state", "kind", "agent", "sort_by", "sort_order"),
    "legacies/": (),
    "conversations/": (),
    "agents/": (),
    "places/": ("state",),
    "proposals/": ("state", "kind"),
    "import/": (),
}


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("value", ["null", "-1", "0", "101", "1e2", "٣", "2.0", "99999999999999999999"])
def test_a_size_that_no_page_has_is_refused_by_its_name(api, owner, path, value):
    answer = api(owner).get(f"/api/v1/{path}?per_page={value}")
    assert (answer.status_code, answer.json()) == (400, {"per_page": ["A whole number from 1 to 100."]})


@pytest.mark.parametrize("value", ["null", "-1", "0", "x", "last", "1.5"])
def test_what_is_no_page_is_refused_by_its_name(api, owner, value):
    answer = api(owner).get(f"/api/v1/memories/?page={value}")
    assert (answer.status_code, answer.json()) == (400, {"page": ["A whole number from 1 on."]})


@pytest.mark.parametrize(("path", "name"), [(path, name) for path, names in LISTS.items() for name in names])
def test_a_filter_that_means_nothing_is_refused_by_its_name(api, owner, path, name):
    answer = api(owner).get(f"/api/v1/{path}?{name}=null")
    assert (answer.status_code, list(answer.json())) == (400, [name])


@pytest.mark.parametrize("path", [*LISTS, "changes/", "tools/", "memories/context/"])
def test_a_parameter_that_does_not_exist_is_refused_by_its_name(api, owner, path):
    answer = api(owner).get(f"/api/v1/{path}?catgory=person")
    assert (answer.status_code, list(answer.json())) == (400, ["catgory"])
    assert api(owner).get(f"/api/v1/{path}").status_code == 200


def test_a_parameter_without_a_value_is_left_out(api, owner):
    assert api(owner).get("/api/v1/memories/?per_page=&page=&pinned=&state=").status_code == 200


@pytest.mark.parametrize(("value", "status"), [("true", 200), ("False", 200), ("1", 200), ("yes", 400), ("nul", 400)])
def test_yes_and_no(api, owner, value, status):
    assert api(owner).get(f"/api/v1/memories/?pinned={value}").status_code == status


@pytest.mark.parametrize("what", ["cursor=null", "cursor=abc", "per_page=501", "per_page=null", "after=3"])
def test_cursors(api, owner, what):
    conversation = factories.ConversationFactory(user=owner)
    answer = api(owner).get(f"/api/v1/conversations/{conversation.pk}/messages/?{what}")
    assert (answer.status_code, list(answer.json())) == (400, [what.partition("=")[0]])


class TestBodies:
    """A field that does not exist changes nothing and is named, inside of others as well."""

    @pytest.mark.parametrize(
        ("path", "body", "named"),
        [
            ("memories/", {"content": "Likes tea.", "category": "preference", "subjct": "tea"}, ["subjct"]),
            ("legacies/", {"name": "Rosa", "membres": []}, ["membres"]),
            ("legacies/", {"name": "Rosa", "role": "owner"}, ["role"]),
            ("conversations/", {"titel": "Rosa"}, ["titel"]),
            ("conversations/", {"message_count": 3}, ["message_count"]),
            ("agents/", {"name": "notebook", "scopes": ["admin"]}, ["scopes"]),
            ("places/", {"place_id": "home", "name": "Home", "note": "x"}, ["note"]),
            ("memories/bulk-delete/", {"ids": ["abcd1234"], "why": "x"}, ["why"]),
            ("command/", {"text": "/memory", "page": 2}, ["page"]),
            ("tools/add_to_memory/", {"argument": {}}, ["argument"]),
        ],
    )
    def test_of_a_post(self, api, owner, path, body, named):
        answer = api(owner).post(f"/api/v1/{path}", body)
        assert (answer.status_code, list(answer.json())) == (400, named)
        assert api(owner).get("/api/v1/changes/").json() == {"results": [], "next_after": 0}

    def test_what_can_only_be_read_is_told_from_what_does_not_exist(self, api, owner):
        answer = api(owner).post("/api/v1/agents/", {"name": "notebook", "kind": "service", "x": 1})
        assert answer.json() == {"kind": ["This can't be set here."], "x": ["There is no such field."]}

    def test_of_one_message_of_many(self, api, owner):
        conversation = factories.ConversationFactory(user=owner)
        messages = [{"role": "user", "content": "Hello."}, {"role": "user", "content": "So?", "spaeker": "Ann"}]
        answer = api(owner).post(f"/api/v1/conversations/{conversation.pk}/messages/", {"messages": messages})
        assert answer.status_code == 400
        assert "spaeker" in str(answer.json()["messages"])
        assert not conversation.messages.exists()

    def test_of_a_patch(self, api, owner):
        answer = api(owner).patch("/api/v1/me/preferences/", {"review": "before", "languge": "de"})
        assert (answer.status_code, list(answer.json())) == (400, ["languge"])
        assert api(owner).get("/api/v1/me/preferences/").json()["review"] == "after"

    def test_where_none_is_read(self, api, owner, legacy):
        fact = api(owner).post(
            f"/api/v1/legacies/{legacy.pk}/facts/", {"content": "Rosa kept bees.", "category": "hobby"}
        )
        approve = f"/api/v1/facts/{fact.json()['id']}/approve/"
        answer = api(owner).post(approve, {"version": 7})
        assert (answer.status_code, answer.json()) == (400, {"version": ["There is no such field."]})
        assert api(owner).post(approve, {}).status_code == api(owner).post(approve).status_code == 200
