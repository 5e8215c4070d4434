"""Issue 17, 7: the states of agents' work, one JSON state a thread, and those of graphs."""

import base64

import pytest

from conversations.models import Checkpoint, CheckpointWrite
from tests import factories
from tests.conftest import with_key

pytestmark = pytest.mark.django_db
URL = "/api/v1/checkpoints/"
GRAPHS = "/api/v1/graph-checkpoints/"


def blob(text, kind="msgpack"):
    return {"type": kind, "base64": base64.b64encode(text.encode()).decode()}


def save(client, state, thread="t1", **body):
    return client.put(f"{URL}{thread}/", {"state": state, **body})


def put(client, checkpoint_id, parent_id="", thread="t1", **body):
    sent = {"thread": thread, "checkpoint_id": checkpoint_id, "parent_id": parent_id, "blob": blob(checkpoint_id)}
    answer = client.put(GRAPHS, sent | body)
    assert answer.status_code == 204, answer.content


def write(client, checkpoint_id, *writes, task="task", thread="t1", **body):
    sent = [{"index": index, "channel": "c", "blob": blob(text)} for index, text in writes]
    sent = {"thread": thread, "checkpoint_id": checkpoint_id, "task_id": task, "writes": sent, **body}
    answer = client.put(f"{GRAPHS}writes/", sent)
    assert answer.status_code == 204, answer.content


def graphs(client, **query):
    answer = client.get(GRAPHS, query)
    assert answer.status_code == 200, answer.content
    return answer.json()["results"]


def ids(client, **query):
    return [each["checkpoint_id"] for each in graphs(client, **query)]


def written(state):
    return [base64.b64decode(each["blob"]["base64"]).decode() for each in state["writes"]]


def nested(depth):
    return 1 if depth == 0 else [nested(depth - 1)]


# --- One JSON state a thread --------------------------------------------------------------------------------------


@pytest.mark.parametrize("thread", ["a%0Ab", "%E2%80%AE", "t" * 256])
def test_threads_with_names_that_nobody_can_print_are_refused(api, agent, thread):
    client = api(agent)
    for answer in (
        client.get(f"{URL}{thread}/"),
        client.delete(f"{URL}{thread}/"),
        client.get(f"{URL}{thread}/history/"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (400, "bad_thread")


@pytest.mark.parametrize("state", [{"step": 1, "é": ["\u0000", None, 1.5]}, [1], "x", None, True, 0])
def test_save_and_load(api, agent, state):
    first = save(api(agent), state)
    assert (first.status_code, first.json()["version"]) == (201, 1)
    second = save(api(agent), state, version=1)
    assert (second.status_code, second.json()["version"]) == (200, 2)
    loaded = api(agent).get(f"{URL}t1/").json()
    assert (loaded["state"], loaded["version"]) == (state, 2)


def test_a_stale_version_changes_nothing(api, agent):
    save(api(agent), "first")
    save(api(agent), "second", version=1)
    for stale in (0, 1, 3):
        answer = save(api(agent), "lost", version=stale)
        assert (answer.status_code, answer.json()["code"], answer.json()["current"]) == (409, "version_conflict", 2)
    assert api(agent).get(f"{URL}t1/").json()["state"] == "second"


def test_the_last_states_are_kept_and_all_are_deleted(api, agent, settings):
    for number in range(settings.CHECKPOINT_STATES + 3):
        save(api(agent), number)
    kept = api(agent).get(f"{URL}t1/history/").json()
    assert [each["state"] for each in kept] == list(range(12, 2, -1))
    put(api(agent), "1")
    write(api(agent), "1", (0, "w"))
    assert api(agent).delete(f"{URL}t1/").status_code == 204
    assert not Checkpoint.objects.exists()
    assert not CheckpointWrite.objects.exists()
    for answer in (api(agent).get(f"{URL}t1/"), api(agent).get(f"{URL}t1/history/"), api(agent).delete(f"{URL}t1/")):
        assert answer.status_code == 404


def test_threads_are_listed_the_latest_first(api, agent, owner):
    for thread in ("a", "b"):
        save(api(agent), 1, thread)
    put(api(agent), "1", thread="c")
    listed = api(owner).get(URL).json()["results"]
    assert [(each["thread"], each["version"]) for each in listed] == [("c", None), ("b", 1), ("a", 1)]
    assert {each["agent"] for each in listed} == {str(agent.pk)}


def test_a_megabyte_is_the_most(api, agent, settings):
    most = settings.CHECKPOINT_MAX_BYTES
    assert save(api(agent), "x" * (most - 2)).status_code == 201
    answer = save(api(agent), "x" * (most - 1))
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    settings.CHECKPOINT_MAX_BYTES = 100
    sent = {"thread": "t1", "checkpoint_id": "1", "blob": blob("x" * 101)}
    assert api(agent).put(GRAPHS, sent).status_code == 413
    parts = [{"index": index, "channel": "c", "blob": blob("x" * 51)} for index in (0, 1)]
    sent = {"thread": "t1", "checkpoint_id": "1", "task_id": "t", "writes": parts}
    assert api(agent).put(f"{GRAPHS}writes/", sent).status_code == 413


def test_what_could_not_be_sent_back_is_not_kept(api, agent):
    save(api(agent), nested(250))
    put(api(agent), "1", metadata={"deep": nested(249)})
    for answer in (
        save(api(agent), nested(251)),
        api(agent).put(
            GRAPHS, {"thread": "t1", "checkpoint_id": "2", "blob": blob("2"), "metadata": {"deep": nested(250)}}
        ),
    ):
        assert (answer.status_code, answer.json()["code"]) == (400, "too_deep")
    assert api(agent).get(f"{URL}t1/").json()["state"] == nested(250)
    assert api(agent).get(f"{URL}t1/history/").json()[0]["state"] == nested(250)
    assert graphs(api(agent))[0]["metadata"] == {"deep": nested(249)}
    assert not CheckpointWrite.objects.exists()


# --- Who may ------------------------------------------------------------------------------------------------------


def test_threads_of_one_name_are_their_agents_own(api, owner, stranger, agent, other_agent):
    second = with_key(factories.AgentFactory(owner=owner, name="second"))
    for who in (agent, second, other_agent, owner):
        save(api(who), str(who.pk))
        put(api(who), "1")
    for who in (agent, second, other_agent, owner):
        assert api(who).get(f"{URL}t1/").json()["state"] == str(who.pk)
        assert len(graphs(api(who))) == 1
    assert api(owner).get(f"{URL}t1/", {"agent": str(agent.pk)}).json()["state"] == str(agent.pk)
    assert api(stranger).get(f"{URL}t1/", {"agent": str(agent.pk)}).status_code == 404
    assert api(second).get(f"{URL}t1/", {"agent": str(agent.pk)}).json()["state"] == str(second.pk)
    assert api(owner).delete(f"{URL}t1/?agent={agent.pk}").status_code == 204
    assert api(agent).get(f"{URL}t1/").status_code == 404
    assert api(second).get(f"{URL}t1/").status_code == 200


def test_a_key_that_only_reads_saves_nothing(api, owner):
    reader = with_key(factories.AgentFactory(owner=owner, name="reader"), ["read"])
    answer = save(api(reader), 1)
    assert (answer.status_code, answer.json()["code"]) == (403, "missing_scope")
    for path, body in (
        ("copy/", {"thread": "a", "to": "b"}),
        ("prune/", {"threads": ["a"]}),
        ("delete-runs/", {"runs": ["a"]}),
    ):
        assert api(reader).post(f"{GRAPHS}{path}", body).status_code == 403


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("", {"thread": "t", "checkpoint_id": "1", "blob": {"type": "json", "base64": "no base64!"}}),
        ("", {"thread": "t", "checkpoint_id": "1", "blob": "text"}),
        ("", {"thread": "t", "checkpoint_id": "1", "blob": blob("x"), "metadata": {"a": "\0"}}),
        ("writes/", {"thread": "t", "checkpoint_id": "1", "task_id": "t", "writes": [{"index": 0}]}),
    ],
)
def test_what_can_not_be_read_is_refused(api, agent, path, body):
    assert api(agent).put(f"{GRAPHS}{path}", body).status_code == 400
    assert api(agent).get(GRAPHS, {"metadata": "["}).status_code == 400


# --- Of graphs ----------------------------------------------------------------------------------------------------


def test_states_of_graphs_with_what_was_written_to_them(api, agent):
    put(api(agent), "1", metadata={"step": 0, "source": "input"})
    put(api(agent), "2", "1", metadata={"step": 1, "source": "loop"})
    put(api(agent), "2", namespace="child", metadata={"step": 1, "source": "loop"})
    write(api(agent), "2", (1, "b"), (0, "a"), task="t2", task_path="~1")
    write(api(agent), "2", (0, "first"), (-1, "error"), task="t1", task_path="~1")
    write(api(agent), "2", (0, "ignored"), (-1, "replaced"), task="t1", task_path="~1")
    root = graphs(api(agent), thread="t1", namespace="")
    assert [(each["checkpoint_id"], each["parent_id"]) for each in root] == [("2", "1"), ("1", "")]
    assert root[0]["blob"] == blob("2")
    assert written(root[0]) == ["replaced", "first", "a", "b"]
    assert written(root[1]) == []
    assert ids(api(agent), metadata='{"source": "loop"}') == ["2", "2"]
    assert ids(api(agent), before="2") == ["1"]
    assert ids(api(agent), checkpoint_id="2", namespace="child") == ["2"]
    assert ids(api(agent), per_page=1, page=2) == ["2"]


def test_what_is_not_there_may_be_null(api, agent):
    """A first state has no parent, and who loaded nothing knows no version."""
    client = api(agent)
    sent = {"thread": "t1", "checkpoint_id": "1", "blob": blob("1")}
    unset = dict.fromkeys(("namespace", "parent_id", "metadata", "channels"))
    assert client.put("/api/v1/graph-checkpoints/", sent | unset, format="json").status_code == 204
    writes = [{"index": 0, "channel": "messages", "blob": blob("a")}]
    sent = {
        "thread": "t1",
        "checkpoint_id": "1",
        "task_id": "t",
        "writes": writes,
        "namespace": None,
        "task_path": None,
    }
    assert client.put("/api/v1/graph-checkpoints/writes/", sent, format="json").status_code == 204
    (state,) = client.get("/api/v1/graph-checkpoints/", {"thread": "t1"}).json()["results"]
    assert [state[name] for name in ("namespace", "parent_id", "metadata")] == ["", "", {}]
    assert [each["task_path"] for each in state["writes"]] == [""]
    sent = {"state": {"step": 1}, "version": None}
    assert client.put("/api/v1/checkpoints/plain/", sent, format="json").status_code == 201


def test_what_is_written_before_its_state_comes_is_there_with_it(api, agent):
    write(api(agent), "1", (0, "early"))
    put(api(agent), "1")
    (state,) = graphs(api(agent), thread="t1")
    assert written(state) == ["early"]


def test_a_thread_is_copied_whole_and_stays(api, agent, other_agent):
    for number in (1, 2):
        put(api(agent), str(number), metadata={"step": number})
    write(api(agent), "2", (0, "a"))
    for _ in range(2):
        assert api(agent).post(f"{GRAPHS}copy/", {"thread": "t1", "to": "t2"}).status_code == 204
    copied, whole = graphs(api(agent), thread="t2"), graphs(api(agent), thread="t1")
    assert [each | {"thread": "t1"} for each in copied] == whole
    assert api(other_agent).post(f"{GRAPHS}copy/", {"thread": "t1", "to": "t2"}).status_code == 404
    assert graphs(api(other_agent)) == []


def test_runs_are_deleted_with_what_was_written(api, agent):
    for number in (1, 2):
        put(api(agent), str(number), metadata={"run_id": f"run{number}"})
        write(api(agent), str(number), (0, "a"))
    assert api(agent).post(f"{GRAPHS}delete-runs/", {"runs": ["run1", "none"]}).status_code == 204
    assert ids(api(agent)) == ["2"]
    assert CheckpointWrite.objects.get().checkpoint_id == "2"


def test_pruning_keeps_the_newest_and_what_it_is_rebuilt_from(api, agent):
    for thread, deltas in (("plain", {}), ("delta", {"a": [2, 3], "b": [1, 1]})):
        for number in range(1, 6):
            has = {1: ["a", "b"], 2: ["a"], 4: ["b"]}.get(number, [])
            told = {"counters_since_delta_snapshot": deltas} if deltas else {}
            put(api(agent), str(number), str(number - 1), thread, metadata=told, channels=has)
            write(api(agent), str(number), (0, "w"), thread=thread)
    put(api(agent), "1", thread="other")
    sent = {"threads": ["plain", "delta", "none"]}
    assert api(agent).post(f"{GRAPHS}prune/", sent).status_code == 204
    assert ids(api(agent), thread="plain") == ["5"]
    assert ids(api(agent), thread="delta") == ["5", "4", "3", "2"]
    assert ids(api(agent), thread="other") == ["1"]
    kept = CheckpointWrite.objects.filter(thread="delta").values_list("checkpoint_id", flat=True)
    assert sorted(kept) == ["2", "3", "4", "5"]
    api(agent).post(f"{GRAPHS}prune/", {"threads": ["delta"], "strategy": "delete"})
    assert ids(api(agent), thread="delta") == []


@pytest.mark.parametrize("named", [5, "abc", True, [1, {"a": 2}], [["a"]], {"a": None}, None])
def test_pruning_survives_what_a_client_put_where_delta_channels_are_named(api, agent, named):
    """Reproduction: a number or an object in that list answered 500, and the thread was never pruned again."""
    for number in (1, 2):
        put(api(agent), str(number), metadata={"counters_since_delta_snapshot": named})
    assert api(agent).post(f"{GRAPHS}prune/", {"threads": ["t1"]}).status_code == 204
    assert ids(api(agent)) == ["2"]
