"""Memory that an agent manages: it asks before it stores, updates instead of contradicting, and shows what it knows."""

import pytest

from journal.models import Change
from memories.models import Memory

pytestmark = pytest.mark.django_db


def test_scenario_1_proactive_memory_suggestion(program):
    """Asked for a yes, the model stores it, and says so with the id that it got."""
    guidance = program.ask("get", "tools/?format=anthropic")["guidance"]
    assert "Ask first" in guidance
    program.opens_a_conversation()
    program.hears("Alec is my boss by the way")
    program.hears("Would you like me to remember that Alec is your boss for future conversations?", "assistant")
    assert not Memory.objects.exists()
    yes = program.hears("Yes")
    answer = program.tool(
        "add_to_memory", message=yes, content="Alec is the user's boss.", category="person", subject="Alec"
    )
    memory = answer["data"]["memory"]
    assert (answer["ok"], answer["data"]["outcome"]) == (True, "created")
    assert answer["content"] == f"Remembered: [id:{memory['id']}] Alec is the user's boss."
    assert (len(memory["id"]), memory["category"], memory["subject"]) == (8, "person", "Alec")
    assert (memory["version"], memory["source_conversation"]) == (1, program.talk)


def test_scenario_1_what_the_user_is_still_being_asked_about_is_not_learned_behind_their_back(program):
    program.opens_a_conversation()
    program.hears("Alec is my boss by the way")
    program.ask("patch", f"conversations/{program.talk}/messages/0/", {"held": True})
    program.hears("Would you like me to remember that Alec is your boss for future conversations?", "assistant")
    program.finishes()
    assert not Memory.objects.exists()
    answer = program.tool("add_to_memory", content="Alec is the user's boss.", category="person", subject="Alec")
    assert answer["data"]["outcome"] == "created"


def test_scenario_2_memory_recall_in_a_new_session(program):
    program.opens_a_conversation()
    program.tool("add_to_memory", content="Alec is the user's boss.", category="person", subject="Alec")
    memory = Memory.objects.get()
    program.opens_a_conversation()
    above, _ = program.prepares("Can you create a task to update Alec on the project?")
    assert "### Person" in above
    assert f"[id:{memory.pk}]" in above
    assert "[Alec] Alec is the user's boss." in above


def test_scenario_2_the_block_keeps_its_bytes_for_the_whole_session(program):
    """Loaded at the start and static from then on, so that the provider's prompt cache holds."""
    program.opens_a_conversation()
    program.tool("add_to_memory", content="Alec is the user's boss.", category="person", subject="Alec")
    program.opens_a_conversation()
    first, _ = program.prepares("Good morning.")
    program.tool("add_to_memory", content="The user prefers tasks due on Friday.", category="preference")
    second, _ = program.prepares("What is on today?")
    assert first == second
    program.opens_a_conversation()
    later, _ = program.prepares("Good evening.")
    assert "due on Friday" in later


def test_scenario_3_memory_update_when_information_changed(program):
    program.opens_a_conversation()
    program.tool("add_to_memory", content="Sarah works on the Platform team.", category="person", subject="Sarah")
    pk = Memory.objects.get().pk
    program.opens_a_conversation()
    above, _ = program.prepares("Sarah moved to the Design team last week")
    assert f"[id:{pk}]" in above
    answer = program.tool("update_memory", memory_id=pk, content="Sarah works on the Design team.")
    assert answer["content"] == (
        f"Updated [id:{pk}] Sarah works on the Design team. Until now it said: Sarah works on the Platform team."
    )
    assert answer["data"]["memory"]["id"] == pk
    shown = program.ask("get", f"memories/{pk}/")
    assert [(each["number"], each["content"]) for each in shown["versions"]] == [
        (1, "Sarah works on the Platform team."),
        (2, "Sarah works on the Design team."),
    ]
    assert Memory.objects.count() == 1


def test_scenario_3_adding_instead_names_the_memory_to_update(program):
    program.opens_a_conversation()
    program.tool("add_to_memory", content="Sarah works on the Platform team.", category="person", subject="Sarah")
    pk = Memory.objects.get().pk
    answer = program.tool("add_to_memory", content="Sarah is now in Design.", category="person", subject="sarah")
    assert (answer["ok"], answer["data"]["code"]) == (False, "subject_exists")
    assert f'update_memory with memory_id "{pk}"' in answer["content"]
    assert Memory.objects.get().version == 1


def test_scenario_4_user_declines_memory_storage(program):
    """Asking and being told no calls no tool, and leaves nothing."""
    program.opens_a_conversation()
    program.hears("I'm working with James on this project")
    program.hears("Would you like me to remember that James is a project collaborator?", "assistant")
    program.hears("No, it's just for this task")
    program.hears("No problem, I won't store that.", "assistant")
    program.finishes()
    program.opens_a_conversation()
    above, _ = program.prepares("Hello again")
    assert "James" not in above
    assert not Memory.objects.exists()
    assert not Change.objects.filter(object_type="memory").exists()


def test_scenario_4_what_was_declined_is_not_learned_from_the_conversation_either(program):
    def told(decline):
        program.opens_a_conversation()
        program.hears("James is my colleague.")
        program.hears("Would you like me to remember that James is your colleague?", "assistant")
        program.hears("No, it's just for this task")
        if decline:
            program.ask("patch", f"conversations/{program.talk}/messages/0/", {"declined": True})
        program.finishes()
        return Memory.objects.count()

    assert told(decline=True) == 0
    # Nobody has to pass the answer on: the no is heard in what is said.
    assert told(decline=False) == 0


def test_scenario_5_the_memory_command_without_an_agent(program, person):
    program.opens_a_conversation()
    for content, category, subject in (
        ("Alec is the user's boss.", "person", "Alec"),
        ("Sarah works on the Design team.", "person", "Sarah"),
        ("The user prefers Thursday due dates.", "preference", ""),
    ):
        assert program.tool("add_to_memory", content=content, category=category, subject=subject)["ok"]
    alec, sarah, thursday = Memory.objects.order_by("created_at").values_list("pk", flat=True)
    for typed in ("/memory", "/memory list"):
        lines = person.types(typed)["text"].splitlines()
        order = [
            next(number for number, line in enumerate(lines) if part in line)
            for part in ("Person", alec, sarah, "Preference", thursday)
        ]
        assert order == sorted(order)
        assert any("Alec is your boss." in line for line in lines)
        assert any("/memory delete" in line for line in lines)


def test_scenario_6_memory_deletion_without_an_agent(program, person):
    program.opens_a_conversation()
    program.tool("add_to_memory", content="The user prefers Thursday due dates.", category="preference")
    pk = Memory.objects.get().pk
    answer = person.types(f"/memory delete {pk}")
    assert "You prefer Thursday due dates" in answer["text"]
    assert person.ask("get", "memories/")["count"] == 0
    program.opens_a_conversation()
    above, _ = program.prepares("When are my tasks due?")
    assert "Thursday" not in above
    assert Memory.objects.get().state == "archived"


def test_scenario_6_what_the_person_deleted_no_agent_brings_back(program, person):
    program.opens_a_conversation()
    program.tool("add_to_memory", content="The user prefers Thursday due dates.", category="preference")
    pk = Memory.objects.get().pk
    person.types(f"/memory delete {pk}")
    again = program.tool("add_to_memory", content="The user prefers Thursday due dates.", category="preference")
    assert (again["ok"], again["data"]["code"]) == (False, "rejected_before")
    program.ask("post", f"memories/{pk}/restore/", None, 404)  # No agent sees it any more.
    person.types(f"/memory restore {pk}")
    assert Memory.objects.get().state == "active"


def test_memory_tools_are_always_available_system_tools(program):
    for tool in program.ask("get", "tools/")["tools"]:
        assert tool["tags"] == ["system", "memory"]
        assert (tool["risk_level"], tool["requires_confirmation"]) == ("low", False)


def test_memories_stand_by_category_then_by_when_they_were_created(program):
    program.opens_a_conversation()
    for content, category in (
        ("The user works on the Platform team.", "context"),
        ("The user likes concise meetings.", "preference"),
        ("Sarah is a colleague of the user.", "person"),
        ("Alec is the user's boss at TechCorp.", "person"),
    ):
        assert program.tool("add_to_memory", content=content, category=category, insist=True)["ok"]
    text = program.ask("get", "memories/context/")["text"]
    parts = ["### Context", "Platform", "### Person", "Sarah", "Alec", "### Preference", "concise"]
    assert [text.index(part) for part in parts] == sorted(text.index(part) for part in parts)
    assert program.ask("get", "memories/context/")["text"] == text
