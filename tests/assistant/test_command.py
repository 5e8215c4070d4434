"""What people type to see, delete and restore memories: how it is read, what it does, and how it is answered."""

from dataclasses import replace
from datetime import timedelta

import pytest
import regex
from django.utils import timezone, translation
from hypothesis import example, given
from hypothesis import strategies as st

from accounts import categories
from accounts.principals import Principal
from accounts.queries import CHAT_SCOPES, principal_for_person
from assistant.tools.command import (
    HELP,
    LONGEST_ANSWER,
    Command,
    parse,
    read_words,
    run_command,
    shortened,
)
from journal.exceptions import Conflict, NotAllowed, NotFound, Refused
from journal.models import Change
from memories.actions import memory_add, memory_quarantine, memory_reject
from memories.models import MEMORY, Memory, Proposal
from memories.models.memory import ID_CHARACTERS
from memories.records import NewMemory
from statements.actions import statements_purge
from statements.models import Suppression
from tests import factories
from tests.conftest import with_key
from tests.factories import rev_of
from tests.memories.rows import remember

URL = "/api/v1/command/"
IDS = st.text("ABCxyz0189", min_size=ID_CHARACTERS, max_size=ID_CHARACTERS)
BLANKS = st.text(" \t\n\u00a0\u200b\u3000\ufeff", min_size=1, max_size=4)


@pytest.fixture
def chat(me):
    """What a linked chat of ``owner`` stands for."""
    return replace(me, actor_id="telegram:1", scopes=CHAT_SCOPES, issuer="telegram", identity_id=1)


def units(text):
    return len(text.encode("utf-16-le")) // 2


def add(principal, content="The user keeps bees.", category="context", **values):
    return memory_add(principal, NewMemory(content, category, **values), insist=True).memory


def stored(memory):
    return Memory.objects.get(pk=memory.pk)


class TestReading:
    @pytest.mark.parametrize(
        ("text", "command"),
        [
            ("/memory", Command("list")),
            ("/memory list", Command("list")),
            ("/MEMORY List", Command("list")),
            ("  /memory@keepsake_bot\n", Command("list")),
            ("/memory@keepsake_bot list tone", Command("list", category="tone")),
            ("/memory list 2", Command("list", page=2)),
            ("/memory list tone 3", Command("list", category="tone", page=3)),
            ("/memory list recent activity", Command("list", category="recent_activity")),
            ("/memory list recent activity 2", Command("list", category="recent_activity", page=2)),
            ("/memory list 2 tone", Command("list", category="2_tone")),
            ("/memory list 99999999", Command("list", category="99999999")),
            ("/memory delete a1b2c3D4", Command("delete", "a1b2c3D4")),
            ("/memory\u00a0delete\u200b\u3000[a1b2c3D4]", Command("delete", "a1b2c3D4")),
            ("/memory DELETE [id:a1b2c3D4].", Command("delete", "a1b2c3D4")),
            ("/memory delete <a1b2c3D4>", Command("delete", "a1b2c3D4")),
            ("/memory restore “a1b2c3D4”", Command("restore", "a1b2c3D4")),
            ("/memory restore", Command("restore")),
            ("/memory delete a1b2c3d4 e5f6g7h8", Command("delete", "a1b2c3d4e5f6g7h8")),
            ("/memory help", Command("help")),
            ("/memory forget everything", Command("help")),
            ("/memory a1b2c3d4", Command("help")),
        ],
    )
    def test_a_command_is_read(self, text, command):
        assert parse(text) == command

    @pytest.mark.parametrize(
        "text",
        ["", " ", "memory", "/", "/memorylist", "/memory@", "/memory@a@b", "tell me /memory", "/mémory", "//memory"],
    )
    def test_what_is_another_command_or_none_is_not(self, text):
        assert parse(text) is None

    def test_the_words_of_any_command_are_read(self):
        assert read_words("/Start@Some_Bot  AB-CD x") is not None
        spoken = read_words("/Start@Some_Bot  AB-CD x")
        assert (spoken.name, spoken.bot, spoken.words) == ("start", "Some_Bot", ("AB-CD", "x"))
        assert read_words("hello /start") is None

    @given(st.text())
    @example("/memory\x00list")
    @example("/memory \ud800")
    @example("/memory list ٣")
    def test_whatever_is_typed_is_read_without_a_fault(self, text):
        command = parse(text)
        if command is not None:
            assert command.page >= 0
            assert command.category == "_".join(command.category.split())
        assert parse("/memory " + text) is not None

    @given(IDS, st.sampled_from(["delete", "restore"]), BLANKS, BLANKS, st.booleans())
    def test_an_id_is_read_however_it_is_spaced(self, memory_id, name, before, between, bot):
        said = f"{before}/memory{'@a_bot' if bot else ''}{between}{name.upper()}{between}{memory_id}{before}"
        assert parse(said) == Command(name, memory_id)

    @given(st.text(), st.integers(1, 300))
    def test_a_text_is_shortened_between_characters(self, text, longest):
        text = text.encode("utf-8", "ignore").decode()
        short = shortened(text, longest)
        whole = " ".join(text.split())
        assert units(short) <= longest
        assert short.splitlines() in ([short], [])
        if short != whole:
            assert short.endswith("…")
            assert whole.startswith(short[:-1])
            characters = regex.findall(r"\X", whole)
            assert short[:-1] in {"".join(characters[:count]).rstrip() for count in range(len(characters) + 1)}


class TestLists:
    def test_scenario_5_the_memory_command(self, me):
        alec = add(me, "Alec is the user's boss.", "person")
        sarah = add(me, "Sarah works on the Design team.", "person")
        due = add(me, "The user prefers Thursday due dates.", "preference")
        answer = run_command(me, "/memory")
        assert answer.text == (
            "Your memories:\n"
            "\n"
            "Person\n"
            f"• [{alec.pk}] Alec is your boss.\n"
            f"• [{sarah.pk}] Sarah works on the Design team.\n"
            "\n"
            "Preference\n"
            f"• [{due.pk}] You prefer Thursday due dates.\n"
            "\n"
            "Use /memory delete <id> to remove a memory."
        )
        assert run_command(me, "/memory list") == answer
        assert [each["id"] for each in answer.data["memories"]] == [alec.pk, sarah.pk, due.pk]
        assert {name: answer.data[name] for name in ("command", "category", "page", "pages", "count")} == {
            "command": "list",
            "category": "",
            "page": 1,
            "pages": 1,
            "count": 3,
        }

    def test_there_may_be_none(self, me):
        answer = run_command(me, "/memory")
        assert answer.text == "Nothing is remembered about you yet."
        assert (answer.data["count"], answer.data["pages"]) == (0, 1)
        assert run_command(me, "/memory list tone").text == "Nothing is remembered under tone."

    def test_a_category_is_named_by_itself_or_an_alias(self, me):
        add(me)
        liked = add(me, "The user likes tea.", "preference")
        for name in ("preference", "Preferences", "PREFERENCE"):
            answer = run_command(me, f"/memory list {name}")
            assert [each["id"] for each in answer.data["memories"]] == [liked.pk]
            assert answer.text.startswith("Your memories under preference:\n\nPreference\n")
            assert answer.data["category"] == "preference"

    def test_a_category_of_two_words_is_typed_as_two(self, me):
        made = add(me, "The user walked along the river.", "recent_activity")
        answer = run_command(me, "/memory list recent activity")
        assert f"\n\nRecent activity\n• [{made.pk}]" in answer.text

    def test_an_unknown_category_tells_those_that_there_are(self, me):
        with pytest.raises(Refused) as refused:
            run_command(me, "/memory list pets")
        assert refused.value.code == "unknown_category"
        assert "no category pets" in refused.value.detail
        assert all(name in refused.value.detail for name in categories.load().by_name)

    def test_a_category_is_named_in_the_active_language_too(self, me):
        made = add(me, "The user walked along the river.", "recent_activity")
        with translation.override("de"):
            for name in ("Zuletzt getan", "zuletzt getan", "recent_activity"):
                answer = run_command(me, f"/memory list {name}")
                assert answer.text.startswith("Deine Erinnerungen unter Zuletzt getan:\n\nZuletzt getan\n")
                assert [each["id"] for each in answer.data["memories"]] == [made.pk]
                assert answer.data["category"] == "recent_activity"
            with pytest.raises(Refused) as refused:
                run_command(me, "/memory list Haustiere")
        assert "Vorliebe" in refused.value.detail
        assert "preference" not in refused.value.detail

    def test_archived_ones_stand_at_the_end_with_the_way_back(self, me, owner):
        factories.PreferencesFactory(user=owner, time_zone="Pacific/Auckland")
        kept, gone = add(me), add(me, "The user keeps hens.")
        run_command(me, f"/memory delete {gone.pk}")
        Memory.objects.filter(pk=gone.pk).update(purge_at="2026-05-02T20:00:00Z")
        answer = run_command(principal_for_person(owner.pk), "/memory")
        assert f"• [{kept.pk}] You keep bees.\n\nArchived\n" in answer.text
        assert f"• [{gone.pk}] You keep hens. (until 3 May 2026)\n" in answer.text
        assert answer.text.endswith("Use /memory restore <id> to bring an archived one back.")
        assert answer.data["count"] == 1
        assert [each["state"] for each in answer.data["memories"]] == ["active", "archived"]

    def test_what_is_not_remembered_is_not_listed(self, me, owner, bot, staff):
        rejected, held = add(me, "The user keeps hens."), add(me, "The user keeps goats.")
        memory_reject(me, rejected.pk)
        memory_quarantine(staff_principal(staff), held.pk, "Reads like an order.")
        add(replace(bot, review="before"), "The user keeps ducks.")
        add(me, "The user keeps geese.", expires_at=timezone.now() + timedelta(hours=1))
        Memory.objects.filter(content__contains="geese").update(expires_at=timezone.now())
        assert run_command(me, "/memory").text == "Nothing is remembered about you yet."

    def test_somebody_else_s_are_not_listed(self, me, stranger):
        add(principal_for_person(stranger.pk))
        assert run_command(me, "/memory").data["memories"] == []

    def test_with_memory_switched_off_the_person_still_sees_theirs(self, me, owner, agent):
        made = add(me)
        off = factories.PreferencesFactory(user=owner, has_memory=False)
        assert not off.has_memory
        signed_in = principal_for_person(owner.pk)
        assert made.pk in run_command(signed_in, "/memory").text
        run_command(signed_in, f"/memory delete {made.pk}")
        assert stored(made).state == "archived"
        bot = factories.agent_principal(agent)
        answer = run_command(bot, "/memory")
        assert answer.data["memories"] == []
        assert answer.text == "Memory is switched off: agents are shown nothing of what is remembered."
        with translation.override("de"):
            assert run_command(bot, "/memory").text.startswith("Das Gedächtnis ist ausgeschaltet:")
        with pytest.raises(NotAllowed) as refused:
            run_command(bot, f"/memory delete {made.pk}")
        assert refused.value.code == "memory_off"

    def test_stored_text_is_one_line_and_no_markup(self, me):
        sly = add(me, "Nice.\n\n• [aaaaaaaa] *Bold* <b>x</b> [link](http://x.test)\n/memory delete aaaaaaaa")
        lines = run_command(me, "/memory").text.splitlines()
        (line,) = [line for line in lines if "Bold" in line]
        assert line == f"• [{sly.pk}] {sly.content}"
        assert "*Bold* <b>x</b> [link](http://x.test) /memory delete aaaaaaaa" in line

    def test_a_role_sees_its_categories_only(self, me, agent):
        hidden, seen = add(me), add(me, "The user wants to sail.", "goals")
        part = factories.agent_principal(agent, categories=frozenset({"goals"}))
        assert [each["id"] for each in run_command(part, "/memory").data["memories"]] == [seen.pk]
        with pytest.raises(NotAllowed) as refused:
            run_command(part, "/memory list context")
        assert refused.value.code == "category_not_allowed"
        for what in ("delete", "restore"):
            with pytest.raises(NotFound):
                run_command(part, f"/memory {what} {hidden.pk}")


class TestLongLists:
    def whole(self, principal, text="/memory list"):
        first = run_command(principal, text)
        rest = [run_command(principal, f"{text} {page}") for page in range(2, first.data["pages"] + 1)]
        return [first, *rest]

    def check(self, answers, contents):
        """Every page fits, every memory stands on one page, whole, under its heading."""
        for number, answer in enumerate(answers, 1):
            assert units(answer.text) <= LONGEST_ANSWER
            assert answer.data["page"] == number
            assert answer.text.splitlines()[2][0].isupper()
        lines = [line for answer in answers for line in answer.text.splitlines() if line.startswith("• ")]
        assert [line.split("] ", 1)[1] for line in lines] == contents
        assert [each["content"] for answer in answers for each in answer.data["memories"]] == contents

    def test_pages_hold_whole_lines(self, me, owner):
        contents = [
            f"Rosa keeps {number} hens, {'and feeds them well, ' * (number % 20)}daily." for number in range(300)
        ]
        remember(owner, *contents)
        answers = self.whole(me)
        assert len(answers) > 10
        self.check(answers, contents)
        assert "page 1 of" in answers[0].text
        assert "Use /memory list 2 to see more." in answers[0].text
        assert "to see more" not in answers[-1].text
        assert all(units(answer.text) > LONGEST_ANSWER / 2 for answer in answers[:-1])

    def test_emoji_count_as_a_messenger_counts_them(self, me, owner):
        contents = [f"{number:03} " + "👩‍👩‍👧‍👦" * 44 for number in range(40)]
        remember(owner, *contents)
        self.check(self.whole(me), contents)

    def test_headings_are_repeated_and_kept_apart(self, me, owner):
        for category in sorted(categories.load().by_name):
            remember(owner, *(f"{'Of this there is much. ' * 12}{category} {n}" for n in range(8)), category=category)
        answers = self.whole(me)
        for answer in answers:
            assert units(answer.text) <= LONGEST_ANSWER
            blocks = answer.text.split("\n\n")[1:-1]
            for block in blocks:
                heading, *lines = block.splitlines()
                assert lines
                named = {line.rsplit(" ", 2)[1].replace("_", " ").capitalize() for line in lines}
                assert named == {heading}
        paged = self.whole(me, "/memory list tone")
        assert all(answer.text.startswith("Your memories under tone") for answer in paged)
        assert sum(len(answer.data["memories"]) for answer in paged) == 8

    def test_a_page_of_a_category_names_the_category(self, me, owner):
        remember(owner, *("Long enough to fill a page. " * 15 + str(number) for number in range(20)), category="tone")
        assert "Use /memory list tone 2 to see more." in run_command(me, "/memory list TONE").text

    def test_one_that_is_longer_than_a_message_is_shortened(self, me):
        steps = "🪜" + "Climb on. " * 390
        made = add(me, steps.strip(), "procedural", kind="procedural")
        answer = run_command(me, "/memory")
        assert units(answer.text) <= LONGEST_ANSWER
        (line,) = [line for line in answer.text.splitlines() if "Climb" in line]
        shown = line.removeprefix(f"• [{made.pk}] ")
        assert len(shown) > 1_000
        assert shown.endswith("…")
        assert made.content.startswith(shown[:-1])
        assert answer.data["memories"][0]["content"] == made.content
        deleted = run_command(me, f"/memory delete {made.pk}")
        assert LONGEST_ANSWER * 0.8 < units(deleted.text) <= LONGEST_ANSWER
        assert deleted.text.endswith("for 30 days.")

    @pytest.mark.parametrize("page", ["0", "2", "999999"])
    def test_a_page_that_there_is_not_is_told(self, me, page):
        add(me)
        with pytest.raises(Refused) as refused:
            run_command(me, f"/memory list {page}")
        assert (refused.value.status, refused.value.code) == (400, "no_page")
        assert refused.value.detail == f"There is no page {page}: this list has 1 page."

    def test_it_takes_two_queries_however_long(self, me, owner, django_assert_num_queries):
        for _ in range(2):
            remember(owner, *(f"The user keeps {number} hens." for number in range(150)))
            with django_assert_num_queries(2):
                run_command(me, "/memory list 2")


class TestDeleting:
    def test_scenario_6_memory_deletion(self, me):
        made = add(me, "The user prefers Thursday due dates.", "preference")
        answer = run_command(me, f"/memory delete {made.pk}")
        assert answer.text.splitlines()[0] == "Deleted: 'You prefer Thursday due dates.'"
        assert answer.text.splitlines()[1] == f"/memory restore {made.pk} brings it back, for 30 days."
        assert (answer.data["command"], answer.data["outcome"]) == ("delete", "archived")
        assert answer.data["memory"]["state"] == "archived"
        assert stored(made).deleted_why == "person"
        assert Suppression.objects.count() == 1

    def test_again_changes_nothing(self, me, owner):
        made = add(me)
        run_command(me, f"/memory delete {made.pk}")
        before = rev_of(owner)
        answer = run_command(me, f"/memory delete {made.pk}")
        assert answer.text.startswith("Deleted already: 'You keep bees.'")
        assert answer.data["outcome"] == "unchanged"
        assert rev_of(owner) == before

    def test_from_a_linked_chat_it_is_the_person_s_own_word(self, chat, me, owner):
        made = add(me)
        assert run_command(chat, f"/memory delete {made.pk}").data["outcome"] == "archived"
        change = Change.objects.latest("rev")
        assert (change.event, change.actor_kind, change.actor_id) == ("DELETE", "person", "telegram:1")
        assert Suppression.objects.count() == 1
        assert stored(made).deleted_why == "person"
        assert run_command(chat, f"/memory restore {made.pk}").data["outcome"] == "restored"
        assert stored(made).reviewed_at is not None
        assert not Suppression.objects.exists()

    def test_what_an_agent_would_delete_can_wait(self, me, bot):
        made = add(me)
        answer = run_command(replace(bot, review="before"), f"/memory delete {made.pk}")
        assert answer.text == "To be deleted when you approve it: 'You keep bees.'"
        assert answer.data["outcome"] == "waiting"
        assert stored(made).state == "active"
        assert Proposal.objects.get().kind == "archive"

    def test_a_rejected_one_is_no_longer_there_to_delete(self, me):
        made = add(me)
        memory_reject(me, made.pk)
        with pytest.raises(Conflict) as refused:
            run_command(me, f"/memory delete {made.pk}")
        assert refused.value.code == "wrong_state"

    @pytest.mark.parametrize("what", ["delete", "restore"])
    @pytest.mark.parametrize("typed", ["", "short", "a1b2c3d4 e5f6g7h8", "a1b2c3d", "é1b2c3d4", "a1b2-3d4", "٣1b2c3d4"])
    def test_what_is_no_id_is_told(self, me, what, typed):
        with pytest.raises(Refused) as refused:
            run_command(me, f"/memory {what} {typed}")
        assert (refused.value.status, refused.value.code) == (400, "bad_id")
        assert "/memory list" in refused.value.detail

    @pytest.mark.parametrize("what", ["delete", "restore"])
    def test_somebody_else_s_looks_like_what_never_was(self, me, stranger, what):
        theirs = add(principal_for_person(stranger.pk))
        told = []
        for memory_id in (theirs.pk, "nothere1"):
            with pytest.raises(NotFound) as refused:
                run_command(me, f"/memory {what} {memory_id}")
            told.append((refused.value.code, refused.value.detail.replace(memory_id, "")))
        assert told[0] == told[1]
        assert stored(theirs).state == "active"

    def test_an_id_is_told_apart_by_its_letters_sizes(self, me):
        made = add(me)
        other = made.pk.swapcase()
        if other != made.pk:
            with pytest.raises(NotFound):
                run_command(me, f"/memory delete {other}")
        assert stored(made).state == "active"


class TestRestoring:
    def test_what_was_deleted_comes_back(self, me):
        made = add(me)
        run_command(me, f"/memory delete {made.pk}")
        answer = run_command(me, f"/memory restore {made.pk}")
        assert answer.text == "Restored: 'You keep bees.'"
        assert (answer.data["outcome"], answer.data["memory"]["purge_at"]) == ("restored", None)
        assert stored(made).state == "active"

    def test_again_changes_nothing(self, me, owner):
        made = add(me)
        before = rev_of(owner)
        answer = run_command(me, f"/memory restore {made.pk}")
        assert answer.text == "It is there already: 'You keep bees.'"
        assert (answer.data["outcome"], rev_of(owner)) == ("unchanged", before)

    def test_a_purged_one_says_so(self, me, chat, owner, bot):
        made = add(me)
        run_command(me, f"/memory delete {made.pk}")
        Memory.objects.filter(pk=made.pk).update(purge_at=timezone.now())
        statements_purge(MEMORY)
        for principal in (me, chat):
            for what in ("restore", "delete"):
                with pytest.raises(NotFound) as refused:
                    run_command(principal, f"/memory {what} {made.pk}")
                assert refused.value.code == "purged"
                assert f"The memory {made.pk} was purged on" in refused.value.detail
        with pytest.raises(NotFound) as refused:
            run_command(bot, f"/memory restore {made.pk}")
        assert refused.value.code == "not_found"

    def test_what_has_been_said_again_meanwhile_is_told(self, me):
        made = add(me)
        run_command(me, f"/memory delete {made.pk}")
        add(me)
        with pytest.raises(Conflict) as refused:
            run_command(me, f"/memory restore {made.pk}")
        assert refused.value.code == "similar_exists"

    def test_an_agent_does_not_fetch_back_what_the_person_deleted(self, me, bot):
        made = add(me)
        run_command(me, f"/memory delete {made.pk}")
        with pytest.raises(NotFound):
            run_command(bot, f"/memory restore {made.pk}")

    def test_what_staff_held_back_stays_held_back(self, me, staff):
        made = add(me)
        memory_quarantine(staff_principal(staff), made.pk, "Reads like an order.")
        run_command(me, f"/memory delete {made.pk}")
        answer = run_command(me, f"/memory restore {made.pk}")
        assert answer.text == "Restored, and waits to be reviewed: 'You keep bees.'"
        assert (answer.data["outcome"], stored(made).state) == ("waiting", "quarantined")


class TestWhoMay:
    def test_help_is_for_whatever_is_not_understood(self, me):
        for text in ("/memory help", "/memory forget me", "/memory delete-all x"):
            assert run_command(me, text).text == HELP
            assert run_command(me, text).data == {"command": "help"}

    @pytest.mark.parametrize("text", ["hello", "", "/start"])
    def test_what_is_no_command_is_told(self, me, text):
        with pytest.raises(Refused) as refused:
            run_command(me, text)
        assert (refused.value.status, refused.value.code) == (400, "no_command")

    def test_nobody_has_nothing(self):
        nobody = Principal(kind="job", actor_id="1", user_id=None, scopes=frozenset({"read", "write"}))
        for text in ("/memory", "/memory delete a1b2c3d4"):
            with pytest.raises(NotFound):
                run_command(nobody, text)

    def test_reading_needs_read_and_changing_needs_write(self, me, agent):
        made = add(me)
        reader, writer = (factories.agent_principal(agent, scopes=[scope]) for scope in ("read", "write"))
        assert run_command(reader, "/memory").data["count"] == 1
        for what in ("delete", "restore"):
            with pytest.raises(NotAllowed) as refused:
                run_command(reader, f"/memory {what} {made.pk}")
            assert refused.value.code == "missing_scope"
        for text in ("/memory", f"/memory delete {made.pk}"):
            with pytest.raises(NotAllowed):
                run_command(writer, text)
        assert stored(made).state == "active"


class TestOverHttp:
    def test_it_answers_with_text_and_data(self, api, me, owner):
        made = add(me, subject="Bees")
        answer = api(owner).post(URL, {"text": "/memory"})
        assert answer.status_code == 200
        assert answer.json()["text"].startswith("Your memories:")
        assert answer.json()["data"] == {
            "command": "list",
            "category": "",
            "page": 1,
            "pages": 1,
            "count": 1,
            "memories": [
                {
                    "id": made.pk,
                    "category": "context",
                    "subject": "Bees",
                    "content": made.content,
                    "state": "active",
                    "purge_at": None,
                }
            ],
        }
        assert api(owner).post(URL, {"text": "/memory help"}).json() == {"text": HELP, "data": {"command": "help"}}

    def test_deleting_and_restoring(self, api, me, owner):
        made = add(me)
        gone = api(owner).post(URL, {"text": f"/memory delete {made.pk}"}).json()["data"]
        assert (gone["outcome"], gone["memory"]["state"]) == ("archived", "archived")
        assert gone["memory"]["purge_at"].endswith("Z")
        back = api(owner).post(URL, {"text": f"/memory restore {made.pk}"}).json()["data"]
        assert (back["outcome"], back["memory"]["state"]) == ("restored", "active")

    @pytest.mark.parametrize(
        "body", [{}, {"text": ""}, {"text": "x" * 4_097}, {"text": "/memory\x00"}, {"text": ["x"]}, []]
    )
    def test_a_wrong_body_is_refused(self, api, owner, body):
        assert api(owner).post(URL, body).status_code == 400

    @pytest.mark.parametrize(
        ("text", "status", "code"),
        [
            ("hello", 400, "no_command"),
            ("/memory delete nothere1", 404, "not_found"),
            ("/memory delete", 400, "bad_id"),
            ("/memory list pets", 400, "unknown_category"),
            ("/memory list 7", 400, "no_page"),
        ],
    )
    def test_what_can_t_be_done_is_told(self, api, owner, text, status, code):
        answer = api(owner).post(URL, {"text": text})
        assert (answer.status_code, answer.json()["code"]) == (status, code)

    @pytest.mark.parametrize(
        ("caller", "listing", "deleting"),
        [
            ("owner", 200, 200),
            ("member", 200, 404),
            ("staff", 200, 404),
            ("agent", 200, 202),
            ("reader", 200, 403),
            ("writer", 403, 403),
            ("other_agent", 200, 404),
            (None, 401, 401),
        ],
    )
    def test_who_may(self, request, api, me, agent, member, staff, caller, listing, deleting):
        made = add(me)
        keys = {"reader": ["read"], "writer": ["write"]}
        who = caller and (with_key(agent, keys[caller]) if caller in keys else request.getfixturevalue(caller))
        listed = api(who).post(URL, {"text": "/memory"})
        assert listed.status_code == listing
        deleted = api(who).post(URL, {"text": f"/memory delete {made.pk}"})
        assert deleted.status_code == deleting
        assert (stored(made).state == "archived") == (deleting == 200)
        if caller in {"member", "staff", "other_agent"}:
            assert made.pk.encode() not in listed.content

    def test_what_waits_answers_202(self, api, me, owner, agent):
        made = add(me)
        factories.PreferencesFactory(user=owner, review="before")
        Memory.objects.filter(pk=made.pk).update(reviewed_at=timezone.now())
        answer = api(agent).post(URL, {"text": f"/memory delete {made.pk}"})
        assert (answer.status_code, answer.json()["data"]["outcome"]) == (202, "waiting")

    def test_the_same_key_does_its_work_once(self, api, me, owner):
        made = add(me)

        def send(text, key):
            return api(owner).post(URL, {"text": text}, headers={"Idempotency-Key": key})

        first = send(f"/memory delete {made.pk}", "k1")
        restored = send(f"/memory restore {made.pk}", "k2")
        before = rev_of(owner)
        again = send(f"/memory delete {made.pk}", "k1")
        assert again["Idempotent-Replay"] == "true"
        assert again.json()["text"] == first.json()["text"]
        assert again.json()["data"]["outcome"] == "archived"
        assert again.json()["data"]["memory"]["state"] == "active"
        assert send(f"/memory restore {made.pk}", "k2").json() == restored.json()
        assert rev_of(owner) == before
        assert send(f"/memory restore {made.pk}", "k1").status_code == 422

    def test_a_proposal_is_replayed_as_one(self, api, me, owner, agent):
        made = add(me)
        factories.PreferencesFactory(user=owner, review="before")
        Memory.objects.filter(pk=made.pk).update(reviewed_at=timezone.now())
        client = api(agent)
        answers = [
            client.post(URL, {"text": f"/memory delete {made.pk}"}, headers={"Idempotency-Key": "k1"}) for _ in range(2)
        ]
        assert [answer.status_code for answer in answers] == [202, 202]
        assert answers[0].json() == answers[1].json()
        assert Proposal.objects.count() == 1

    @pytest.mark.parametrize(("caller", "queries"), [("owner", 5), ("agent", 3)])
    def test_a_list_takes_the_same_queries_however_long(
        self, request, api, owner, django_assert_num_queries, caller, queries
    ):
        client = api(request.getfixturevalue(caller))
        client.post(URL, {"text": "/memory"})  # The first visit of a key leaves a grant.
        for _ in range(2):
            remember(owner, *(f"The user keeps {number} hens." for number in range(30)))
            with django_assert_num_queries(queries):
                assert client.post(URL, {"text": "/memory"}).status_code == 200


def staff_principal(staff):
    from accounts.queries import principal_for_staff

    return principal_for_staff(staff)
