"""Asking over HTTP, memories with vectors, and filters as plain Python applies them."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

from language.backends import get_embedder
from memories.models import Memory
from tests import factories
from tests.memories.rows import remember

URL = "/api/v1/memories/query/"
START = datetime(2025, 1, 1, tzinfo=UTC)
CATEGORIES = ("tasks", "tone", "event", "knowledge", "procedural")
ROLES = ("", "user", "assistant")


def ask(client, query, **body):
    """What a question is answered."""
    answer = client.post(URL, {"query": query, **body})
    assert answer.status_code == 200, answer.content
    return answer.json()


def ids(answer):
    return [each["id"] for each in answer["results"]]


def texts(answer):
    return [each["text"] for each in answer["results"]]


def embedded(person, *statements):
    """Memories with vectors: each a content, or a content and its category."""
    embedder = get_embedder()
    pairs = [(each, "context") if isinstance(each, str) else each for each in statements]
    vectors = embedder.embed_passages([content for content, _ in pairs])
    rows = [
        {"content": content, "category": category, "embedding": vector, "embedding_model": embedder.name}
        for (content, category), vector in zip(pairs, vectors, strict=True)
    ]
    return remember(person, *rows)


def random_memories(person, chance, count):
    """Memories of every state, category, kind and date, all about boats; returns them as they are stored."""
    agents = [None, *factories.AgentFactory.create_batch(2, owner=person)]
    rows = []
    for number in range(count):
        state = chance.choice(["active"] * 6 + ["archived", "rejected", "proposed", "quarantined"])
        gone = {"deleted_at": START, "purge_at": START, "deleted_why": "person"}
        rows.append(
            {
                "content": f"Boats number {number}.",
                "category": chance.choice(CATEGORIES),
                "kind": chance.choice(["semantic", "semantic", "episodic", "insight", "procedural"]),
                "agent": chance.choice(agents),
                "run_id": chance.choice(["", "run1", "run2"]),
                "actor_id": chance.choice(["", "ada", "ben"]),
                "role": chance.choice(ROLES),
                "pinned": chance.random() < 0.3,
                "importance": chance.randint(1, 5),
                "updated_at": START + timedelta(days=chance.randint(0, 60)),
                "expires_at": chance.choice([None, None, None, START]),
                "state": state,
                **(gone if state in {"archived", "rejected"} else {}),
            }
        )
    remember(person, *rows)
    return list(Memory.objects.filter(user=person).without_vectors())


def random_filters(chance, person):
    """Categories and filters of a question, each given in about a third of them."""
    agent_ids = [*Memory.objects.filter(user=person, agent__isnull=False).values_list("agent_id", flat=True)[:3]]
    options = {
        "user_id": [str(person.pk)],
        "agent_id": [*agent_ids, UUID(int=1)],
        "run_id": ["run1", "run2", ""],
        "actor_id": ["ada", "ben"],
        "role": list(ROLES),
        "category": list(CATEGORIES),
        "pinned": [True, False],
        "importance_min": [1, 2, 3, 4, 5],
        "importance_max": [1, 2, 3, 4, 5],
        "updated_after": [START + timedelta(days=day) for day in (0, 10, 30, 50)],
        "updated_before": [START + timedelta(days=day) for day in (10, 30, 50, 61)],
    }
    wanted = {name: chance.choice(values) for name, values in options.items() if chance.random() < 0.25}
    categories = tuple(chance.sample(CATEGORIES, chance.randint(1, 4))) if chance.random() < 0.3 else ()
    return categories, wanted


def narrowed_by_hand(memories, categories, wanted):
    """The ids of those that a question may find."""
    asked = set(categories) or set(CATEGORIES) - {"procedural"}
    if "category" in wanted:
        asked = {wanted["category"]} & (set(categories) or set(CATEGORIES))
    has_steps = "procedural" in asked
    tests = {
        "agent_id": lambda memory, value: memory.agent_id == value,
        "run_id": lambda memory, value: memory.run_id == value,
        "actor_id": lambda memory, value: memory.actor_id == value,
        "role": lambda memory, value: memory.role == value,
        "pinned": lambda memory, value: memory.pinned == value,
        "importance_min": lambda memory, value: memory.importance >= value,
        "importance_max": lambda memory, value: memory.importance <= value,
        "updated_after": lambda memory, value: memory.updated_at >= value,
        "updated_before": lambda memory, value: memory.updated_at < value,
    }
    return {
        memory.pk
        for memory in memories
        if memory.state == "active"
        and memory.expires_at is None
        and memory.category in asked
        and (has_steps or memory.kind != "procedural")
        and all(test(memory, wanted[name]) for name, test in tests.items() if name in wanted)
    }
