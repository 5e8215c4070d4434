"""The webhook of the Telegram bot: who gets an answer, what it holds, and what a repeated update does."""

import json
from datetime import timedelta

import pytest
import time_machine
from django.core.checks import run_checks
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from accounts import actions
from accounts.models import ExternalIdentity, LinkAttempts, LinkCode
from accounts.policy import TELEGRAM_ISSUER
from accounts.queries import principal_for_person, principal_for_staff
from assistant.tools.command import LONGEST_ANSWER
from interop import telegram
from journal.models import Change, IdempotencyRecord
from memories.actions import memory_add
from memories.models import MEMORY, Memory
from memories.records import NewMemory
from statements.actions import statements_purge
from tests import factories
from tests.factories import rev_of
from tests.memories.rows import remember

URL = "/interop/telegram/"
SECRET = "a-secret_Token-1"
CHAT, OTHER_CHAT = 70001, 70002


@pytest.fixture(autouse=True)
def _a_bot(settings):
    settings.KEEPSAKE_EMBEDDER = "hashing"
    settings.TELEGRAM_SECRET_TOKEN = SECRET
    settings.TELEGRAM_BOT_NAME = "keepsake_bot"


class Bot:
    """A Telegram that delivers messages to the webhook."""

    def __init__(self):
        self.update_id = 500
        self.client = Client(raise_request_exception=False, enforce_csrf_checks=True)

    def post(self, body, secret=SECRET):
        headers = {} if secret is None else {"X-Telegram-Bot-Api-Secret-Token": secret}
        data = body if isinstance(body, bytes) else json.dumps(body)
        return self.client.post(URL, data, content_type="application/json", headers=headers)

    def update(self, text, chat=CHAT, kind="private", update_id=None, **more):
        self.update_id += 1
        return {
            "update_id": update_id or self.update_id,
            "message": {
                "message_id": 7,
                "date": 1_790_000_000,
                "from": {"id": chat, "is_bot": False, "first_name": "Olga", "language_code": "en"},
                "chat": {"id": chat, "type": kind, "first_name": "Olga"},
                **({} if text is None else {"text": text}),
                **more,
            },
        }

    def say(self, text, chat=CHAT, **more):
        """Send a text; returns what the bot says, empty for nothing."""
        answer = self.post(self.update(text, chat, **more))
        assert answer.status_code == 200, answer.content
        if not answer.content:
            return ""
        told = dict(answer.json())
        text = told.pop("text")
        assert answer["Content-Type"] == "application/json"
        assert told == {"method": "sendMessage", "chat_id": chat, "link_preview_options": {"is_disabled": True}}
        return text


@pytest.fixture
def bot():
    return Bot()


@pytest.fixture
def linked(bot, me):
    """The bot, with the owner's chat linked."""
    bot.say(f"/start {code(me)}")
    return bot


def code(principal):
    return actions.link_code_create(principal, TELEGRAM_ISSUER)


def add(principal, content="The user keeps bees.", category="context", **values):
    return memory_add(principal, NewMemory(content, category, **values), insist=True).memory


def state(memory):
    return Memory.objects.values_list("state", flat=True).get(pk=memory.pk)


class TestTheDoor:
    def test_without_a_token_there_is_no_webhook(self, db, bot, settings):
        settings.TELEGRAM_SECRET_TOKEN = ""
        for secret in (None, "", SECRET):
            assert bot.post(bot.update("/memory"), secret).status_code == 404
        assert bot.client.get(URL).status_code == 404

    @pytest.mark.parametrize("secret", [None, "", "wrong", SECRET.lower(), SECRET + "x", SECRET[:-1], "é"])
    def test_a_wrong_secret_is_refused_before_anything_is_read(self, bot, django_assert_num_queries, db, secret):
        with django_assert_num_queries(0):
            answer = bot.post(b"{", secret)
        assert (answer.status_code, answer.content) == (403, b"")

    def test_only_posts_are_taken(self, db, bot):
        answer = bot.client.get(URL, headers={"X-Telegram-Bot-Api-Secret-Token": SECRET})
        assert (answer.status_code, answer["Allow"]) == (405, "POST")

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"{",
            b"[]",
            b"null",
            b"7",
            b"{}",
            b'{"update_id": "1"}',
            b'{"update_id": true}',
            b'{"update_id": 99999999999999999999999999}',
            b'{"update_id": 1, "message": {}}',
            b'{"update_id": 1, "message": {"chat": {"id": "1", "type": "private"}}}',
            b'{"update_id": 1, "message": {"chat": {"id": 9223372036854775808, "type": "private"}}}',
            b'{"update_id": 1, "message": {"chat": {"id": 1}}}',
            b'{"update_id": 1, "message": {"chat": {"id": 1, "type": "private"}, "text": 7}}',
            b'{"update_id": 1, "message": {"chat": {"id": 1, "type": "private"}, "text": "/memory \\ud800"}}',
            b'{"update_id": 1, "message": {"chat": {"id": 1, "type": "private"}, "text": "\xff"}}',
            b"[" * 50_000,
        ],
        ids=range(17),
    )
    def test_what_is_no_update_is_refused(self, db, bot, body):
        assert bot.post(body).status_code == 400

    def test_what_is_too_large_is_refused(self, db, bot):
        update = json.dumps(bot.update("/memory")).encode()
        most = telegram.LARGEST_UPDATE_BYTES
        assert bot.post(update.ljust(most)).status_code == 200
        assert bot.post(update.ljust(most + 1)).status_code == 413
        assert bot.post(update.ljust(2 * 1_048_576)).status_code == 413

    @pytest.mark.parametrize(
        "update",
        [
            {},
            {"edited_message": {"chat": {"id": CHAT, "type": "private"}, "text": "/memory"}},
            {"channel_post": {"chat": {"id": -100, "type": "channel"}, "text": "/memory"}},
            {"business_message": {"chat": {"id": CHAT, "type": "private"}, "text": "/memory"}},
            {"callback_query": {"id": "1", "data": "/memory"}},
            {"my_chat_member": {"chat": {"id": CHAT, "type": "private"}}},
            {"something_new": 7},
        ],
    )
    def test_what_is_no_new_text_is_answered_with_nothing(self, linked, update):
        answer = linked.post({"update_id": 9, **update})
        assert (answer.status_code, answer.content) == (200, b"")

    @pytest.mark.parametrize("more", [{}, {"photo": [{"file_id": "x"}], "caption": "/memory"}, {"sticker": {}}])
    def test_a_message_without_text_is_answered_with_nothing(self, linked, more):
        assert linked.say(None, **more) == ""

    def test_when_the_database_is_away_telegram_tries_again(self, linked, monkeypatch):
        def away(*_args):
            raise OperationalError("gone")

        monkeypatch.setattr(telegram, "principal_of_identity", away)
        answer = linked.post(linked.update("/memory"))
        assert (answer.status_code, answer["Retry-After"]) == (503, "5")

    @given(st.text())
    def test_whatever_is_written_is_answered(self, text):
        message = telegram._Message(chat=telegram._Chat(id=-7, type="group"), text=text)
        assert telegram._answer(1, message) in {"", telegram.IN_GROUPS}


class TestStrangers:
    @pytest.mark.parametrize("text", ["/memory", "/memory delete a1b2c3d4", "/start", "/link", "/unlink"])
    def test_a_chat_that_nobody_linked_is_told_how(self, bot, me, text):
        add(me)
        assert bot.say(text) == telegram.NOT_LINKED
        assert not IdempotencyRecord.objects.exists()

    @pytest.mark.parametrize("text", ["hello", "/help", "/weather", "memory"])
    def test_whatever_else_is_answered_with_help(self, db, bot, django_assert_num_queries, text):
        with django_assert_num_queries(0):
            assert bot.say(text) == telegram.ALL_HELP

    def test_another_chat_sees_nothing_of_a_linked_one(self, linked, me):
        made = add(me)
        assert linked.say("/memory", chat=OTHER_CHAT) == telegram.NOT_LINKED
        assert linked.say(f"/memory delete {made.pk}", chat=OTHER_CHAT) == telegram.NOT_LINKED
        assert state(made) == "active"

    def test_the_chat_of_somebody_who_is_kept_out_is_not_linked(self, linked, owner, staff):
        actions.user_set_active(principal_for_staff(staff), owner.pk, active=False)
        assert linked.say("/memory") == telegram.NOT_LINKED
        actions.user_set_active(principal_for_staff(staff), owner.pk, active=True)
        assert linked.say("/memory").startswith("Nothing is remembered")

    def test_what_a_backend_calls_somebody_is_no_chat(self, bot, owner):
        factories.ExternalIdentityFactory(user=owner, issuer="backend", external_id=str(CHAT))
        assert bot.say("/memory") == telegram.NOT_LINKED


class TestLinking:
    @pytest.mark.parametrize("way", ["/start {}", "/link {}", "/LINK@keepsake_bot  {}", "/link\n{}"])
    def test_a_code_links_the_chat(self, bot, me, owner, way):
        made = add(me)
        told = bot.say(way.format(code(me)))
        assert told.startswith("This chat is linked to Olga Owner now.")
        assert made.pk in bot.say("/memory")
        identity = ExternalIdentity.objects.get()
        assert (identity.user, identity.issuer, identity.external_id) == (owner, "telegram", str(CHAT))
        assert Change.objects.filter(ledger_id=owner.pk, object_type="identity", event="ADD").exists()

    def test_it_may_be_typed_with_small_letters_and_blanks(self, bot, me):
        first, second = code(me).lower().split("-")
        assert "is linked to" in bot.say(f"/link {first} {second}")

    def test_start_in_a_linked_chat_is_help(self, linked):
        assert linked.say("/start") == telegram.ALL_HELP

    def test_a_wrong_code_is_refused(self, bot, me):
        code(me)
        assert bot.say("/link AAAAA-AAAAA").startswith("This code is not valid")
        assert bot.say("/memory") == telegram.NOT_LINKED

    def test_a_code_is_used_once(self, bot, me):
        given = code(me)
        bot.say(f"/link {given}")
        assert bot.say(f"/link {given}", chat=OTHER_CHAT).startswith("This code is not valid")
        assert bot.say("/memory", chat=OTHER_CHAT) == telegram.NOT_LINKED

    def test_the_chat_gets_the_same_answer_when_its_code_is_delivered_again(self, bot, me, owner):
        update = bot.update(f"/link {code(me)}")
        answers = [bot.post(update).json() for _ in range(2)]
        assert answers[0] == answers[1]
        assert rev_of(owner) == 1

    def test_a_code_expires(self, bot, me):
        with time_machine.travel(timezone.now(), tick=False) as clock:
            given = code(me)
            clock.shift(timedelta(minutes=10))
            assert bot.say(f"/link {given}").startswith("This code is not valid")
        assert not ExternalIdentity.objects.exists()

    def test_guessing_ends_after_a_few_codes(self, bot, me, settings):
        given = code(me)
        for _ in range(settings.LINK_ATTEMPTS):
            assert bot.say("/link AAAAA-AAAAA").startswith("This code is not valid")
        for _ in range(3):
            assert bot.say(f"/link {given}").startswith("Too many codes")
        assert "is linked to" in bot.say(f"/link {given}", chat=OTHER_CHAT)
        assert LinkAttempts.objects.get().external_id == str(CHAT)

    def test_a_chat_of_somebody_else_is_refused_plainly(self, linked, stranger):
        told = linked.say(f"/link {code(principal_for_person(stranger.pk))}")
        assert told == "This chat is linked to somebody else here. End that first: /unlink"
        assert linked.say("/unlink") == telegram.UNLINKED
        assert "linked to Sam Stranger" in linked.say(f"/link {code(principal_for_person(stranger.pk))}")

    def test_unlinking_from_the_page_counts_from_the_next_message_on(self, linked, me):
        actions.identity_unlink(me, TELEGRAM_ISSUER, ExternalIdentity.objects.get().pk)
        assert linked.say("/memory") == telegram.NOT_LINKED

    def test_unlinking_from_the_chat(self, linked, owner):
        assert linked.say("/unlink") == telegram.UNLINKED
        assert linked.say("/memory") == telegram.NOT_LINKED
        assert linked.say("/unlink") == telegram.NOT_LINKED
        change = Change.objects.of_owner(owner.pk).last()
        assert (change.event, change.object_type, change.actor_kind) == ("DELETE", "identity", "person")

    def test_unlinking_that_is_delivered_again_does_not_end_a_new_link(self, linked, me):
        update = linked.update("/unlink")
        linked.post(update)
        linked.say(f"/link {code(me)}")
        answer = linked.post(update)
        assert (answer.status_code, answer.content) == (200, b"")
        assert linked.say("/memory").startswith("Nothing is remembered")

    def test_a_chat_that_was_unlinked_meanwhile_is_told_so(self, linked, monkeypatch):
        principal = telegram._principal(str(CHAT))
        ExternalIdentity.objects.all().delete()
        monkeypatch.setattr(telegram, "principal_of_identity", lambda *_: principal)
        assert linked.say("/unlink") == telegram.NOT_LINKED

    def test_no_code_is_logged(self, bot, me, caplog):
        given = code(me)
        bot.say(f"/link {given}")
        bot.say(f"/link {given}x")
        assert given not in caplog.text
        assert given.replace("-", "") not in caplog.text


class TestGroups:
    @pytest.mark.parametrize("kind", ["group", "supergroup", "channel"])
    @pytest.mark.parametrize("text", ["/memory", "/memory list tone", "/Memory@Keepsake_bot", "/unlink", "/start"])
    def test_a_group_gets_no_memories_and_hears_why(self, linked, me, kind, text):
        made = add(me)
        told = linked.say(text, chat=-CHAT, kind=kind)
        assert told == telegram.IN_GROUPS
        assert made.pk not in told

    def test_not_even_when_somebody_linked_the_group_s_number(self, linked, me, owner):
        add(me)
        factories.ExternalIdentityFactory(user=owner, issuer=TELEGRAM_ISSUER, external_id=str(-CHAT))
        assert linked.say("/memory", chat=-CHAT, kind="group") == telegram.IN_GROUPS

    @pytest.mark.parametrize("text", ["hello", "/weather", "/memory@other_bot", "I like /memory", "/help"])
    def test_what_others_say_there_is_not_answered(self, linked, text):
        assert linked.say(text, chat=-CHAT, kind="group") == ""

    def test_without_a_known_name_every_bot_s_command_may_be_ours(self, linked, settings):
        settings.TELEGRAM_BOT_NAME = ""
        assert linked.say("/memory@other_bot", chat=-CHAT, kind="group") == telegram.IN_GROUPS

    def test_a_code_that_a_group_has_read_is_worth_nothing(self, bot, me):
        given = code(me)
        assert bot.say(f"/link {given}", chat=-CHAT, kind="group") == telegram.IN_GROUPS_CODE
        assert bot.say(f"/link {given}", chat=OTHER_CHAT).startswith("This code is not valid")
        assert not ExternalIdentity.objects.exists()
        assert LinkCode.objects.get().used_at is None


class TestTheCommand:
    def test_scenario_5_the_memory_command(self, linked, me):
        alec = add(me, "Alec is the user's boss.", "person")
        due = add(me, "The user prefers Thursday due dates.", "preference")
        told = linked.say("/memory")
        assert f"Person\n• [{alec.pk}] Alec is your boss.\n" in told
        assert f"Preference\n• [{due.pk}] You prefer Thursday due dates.\n" in told
        assert told.endswith("Use /memory delete <id> to remove a memory.")

    def test_scenario_6_memory_deletion(self, linked, me):
        made = add(me, "The user prefers Thursday due dates.", "preference")
        told = linked.say(f"/memory delete {made.pk}")
        assert told.startswith("Deleted: 'You prefer Thursday due dates.'")
        assert state(made) == "archived"
        assert linked.say(f"/memory restore {made.pk}") == "Restored: 'You prefer Thursday due dates.'"
        assert state(made) == "active"

    def test_the_chat_is_the_actor_and_its_word_the_person_s(self, linked, me, owner):
        made = add(me)
        linked.say(f"/memory delete {made.pk}")
        change = Change.objects.of_owner(owner.pk).last()
        identity = ExternalIdentity.objects.get()
        assert (change.actor_kind, change.actor_id) == ("person", f"telegram:{identity.pk}")
        assert change.meta["why"] == "person"

    def test_somebody_else_s_memory_is_not_found(self, linked, stranger):
        theirs = add(principal_for_person(stranger.pk))
        for what in ("delete", "restore"):
            told = linked.say(f"/memory {what} {theirs.pk}")
            assert told == f"There is no memory {theirs.pk}. /memory list shows those that there are."
        assert state(theirs) == "active"

    def test_a_purged_memory_says_so(self, linked, me):
        made = add(me)
        linked.say(f"/memory delete {made.pk}")
        Memory.objects.update(purge_at=timezone.now())
        statements_purge(MEMORY)
        assert f"The memory {made.pk} was purged on" in linked.say(f"/memory restore {made.pk}")

    def test_with_memory_switched_off_the_person_still_sees_theirs(self, linked, me, owner):
        made = add(me)
        factories.PreferencesFactory(user=owner, has_memory=False)
        assert made.pk in linked.say("/memory")
        assert linked.say(f"/memory delete {made.pk}").startswith("Deleted:")

    def test_stored_text_is_shown_as_text(self, linked, me):
        sly = "*Bold* _x_ <b>y</b> [z](tg://user?id=1) `code` &amp; https://x.test/?q=1"
        made = add(me, sly)
        assert f"• [{made.pk}] {sly}\n" in linked.say("/memory")
        answer = linked.post(linked.update("/memory"))
        assert "parse_mode" not in answer.json()
        assert "entities" not in answer.json()

    @pytest.mark.parametrize("text", ["/memory delete", "/memory list pets", "/memory list 9", "/memory restore x\x00"])
    def test_what_can_t_be_done_is_told_in_words(self, linked, text):
        told = linked.say(text)
        assert told
        assert "{" not in told

    def test_what_is_not_understood_is_answered_with_help(self, linked):
        assert linked.say("/memory forget me") == telegram.HELP

    def test_long_lists_come_in_pages_that_a_message_holds(self, linked, owner):
        contents = [f"{number:03} {'🐝' * 60}" for number in range(200)]
        remember(owner, *contents)
        page, seen = 1, []
        while True:
            told = linked.say(f"/memory list {page}")
            assert len(told.encode("utf-16-le")) // 2 <= LONGEST_ANSWER
            seen += [line.split("] ", 1)[1] for line in told.splitlines() if line.startswith("• ")]
            page += 1
            if f"/memory list {page} to see more" not in told:
                break
        assert seen == contents
        assert page > 3

    def test_it_takes_the_same_queries_however_long(self, linked, owner, django_assert_num_queries):
        for _ in range(2):
            remember(owner, *(f"The user keeps {number} hens." for number in range(30)))
            # The person behind the chat; what is remembered, what can be restored.
            with django_assert_num_queries(3):
                linked.say("/memory")


class TestReplays:
    def test_an_update_that_comes_again_does_its_work_once(self, linked, me, owner):
        made = add(me)
        delete = linked.update(f"/memory delete {made.pk}")
        first = linked.post(delete).json()
        before = rev_of(owner)
        assert linked.post(delete).json() == first
        assert rev_of(owner) == before

    def test_an_old_update_does_not_undo_what_came_after_it(self, linked, me, owner):
        made = add(me)
        delete = linked.update(f"/memory delete {made.pk}")
        restore = linked.update(f"/memory restore {made.pk}")
        deleted, restored = linked.post(delete).json(), linked.post(restore).json()
        before = rev_of(owner)
        assert linked.post(delete).json() == deleted
        assert state(made) == "active"
        linked.say(f"/memory delete {made.pk}")
        assert linked.post(restore).json() == restored
        assert state(made) == "archived"
        assert rev_of(owner) == before + 1

    def test_updates_of_two_chats_are_told_apart(self, linked, me, stranger):
        theirs = principal_for_person(stranger.pk)
        linked.say(f"/link {code(theirs)}", chat=OTHER_CHAT)
        mine, other = add(me), add(theirs)
        linked.say(f"/memory delete {mine.pk}", update_id=9)
        assert linked.say(f"/memory delete {other.pk}", chat=OTHER_CHAT, update_id=9).startswith("Deleted:")
        assert (state(mine), state(other)) == ("archived", "archived")

    def test_another_text_under_the_same_number_changes_nothing(self, linked, me):
        one, other = add(me), add(me, "The user keeps hens.")
        linked.say(f"/memory delete {one.pk}", update_id=9)
        linked.say(f"/memory delete {other.pk}", update_id=9)
        assert state(other) == "active"

    def test_what_was_purged_since_is_told(self, linked, me):
        made = add(me)
        delete = linked.update(f"/memory delete {made.pk}")
        linked.post(delete)
        Memory.objects.update(purge_at=timezone.now())
        statements_purge(MEMORY)
        assert "was purged on" in linked.post(delete).json()["text"]

    @pytest.mark.django_db(transaction=True)
    def test_delivered_twice_at_once_it_does_its_work_once(self, bot, me, owner, at_once):
        bot.say(f"/link {code(me)}")
        made = add(me)
        before = rev_of(owner)
        update = bot.update(f"/memory delete {made.pk}")
        answers = at_once(lambda _: Bot().post(update), 4)
        assert {answer.status_code for answer in answers} == {200}
        assert len({answer.content for answer in answers}) == 1
        assert rev_of(owner) == before + 1


class TestTheCheck:
    def faults(self):
        return {fault.id for fault in run_checks() if fault.id.startswith("interop.")}

    @pytest.mark.parametrize("token", ["", "a", "A-Za_z0-9", "x" * 256])
    def test_what_telegram_takes_passes(self, settings, token):
        settings.TELEGRAM_SECRET_TOKEN = token
        assert self.faults() == set()

    @pytest.mark.parametrize("token", [" ", "with space", "x" * 257, "é", "a\n", "a.b", "a/b"])
    def test_what_it_refuses_is_found_at_the_start(self, settings, token):
        settings.TELEGRAM_SECRET_TOKEN = token
        assert self.faults() == {"interop.E001"}

    @pytest.mark.parametrize("name", ["", "keepsake_bot", "Bot1", "x" * 32])
    def test_a_bot_s_user_name_passes(self, settings, name):
        settings.TELEGRAM_BOT_NAME = name
        assert self.faults() == set()

    @pytest.mark.parametrize("name", ["@keepsake_bot", "keepsake bot", "bot", "x" * 33, "https://t.me/x", "bot\n"])
    def test_what_is_none_is_found_at_the_start(self, settings, name):
        settings.TELEGRAM_BOT_NAME = name
        assert self.faults() == {"interop.E002"}
