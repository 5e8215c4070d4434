"""``manage.py import_conversations``: what it says, what it leaves, and that it can be stopped and run again."""

import io
import json
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError
from django.utils import timezone

from accounts.models import Legacy, User
from assistant.management.commands import import_conversations
from conversations.models import Conversation, ConversationChunk, Message
from journal.models import JobRun
from language.base import ModelUnavailable
from tests import factories

pytestmark = pytest.mark.django_db


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def run(tmp_path):
    """``run(text, …)`` imports a file with that text and returns what was written to both streams."""

    def command(text, *arguments, form="jsonl", stderr=None):
        path = tmp_path / "file"
        path.write_text(text, encoding="utf-8")
        out, err = io.StringIO(), stderr or io.StringIO()
        call_command(
            "import_conversations", path, "--format", form, "--as-user", "ida", *arguments, stdout=out, stderr=err
        )
        return out.getvalue(), err.getvalue()

    return command


def lines(count, conversation="c1", said="She kept bees, number {n}."):
    roles = ["user", "assistant"]
    rows = (
        {"conversation": conversation, "role": roles[n % 2], "content": said.format(n=n), "at": "2024-05-01"}
        for n in range(count)
    )
    return "\n".join(json.dumps(row) for row in rows) + "\n"


def test_a_new_user_and_a_new_legacy_are_made_and_told(run):
    out, _ = run(lines(3), "--legacy", "Grandmother Rosa")
    assert "Made the user ida, who has no password" in out
    assert "Made the legacy Grandmother Rosa." in out
    assert "Imported 3 messages in 1 conversations; 0 conversations were in already." in out
    assert not User.objects.get(username="ida").has_usable_password()
    conversation = Conversation.objects.get()
    assert (conversation.user.username, conversation.legacy.name) == ("ida", "Grandmother Rosa")


def test_a_known_user_and_legacy_are_used(run):
    ida = factories.UserFactory(username="ida")
    legacy = factories.LegacyFactory(name="Rosa", owner=factories.UserFactory(), members=[ida])
    factories.LegacyFactory(name="Rosa")
    out, _ = run(lines(3), "--legacy", " Rosa ")
    assert "Made" not in out
    assert Conversation.objects.get().legacy == legacy


def test_two_legacies_of_one_name_are_refused(run):
    ida = factories.UserFactory(username="ida")
    for _ in range(2):
        factories.LegacyFactory(name="Rosa", owner=ida)
    with pytest.raises(CommandError, match="more than one legacy called Rosa"):
        run(lines(3), "--legacy", "Rosa")


def test_a_deactivated_user_is_refused(run):
    factories.UserFactory(username="ida", is_active=False)
    with pytest.raises(CommandError, match="ida is deactivated"):
        run(lines(3))


def test_running_it_again_changes_nothing(run):
    run(lines(40) + lines(3, "c2"))
    before = list(Message.objects.order_by("pk").values())
    out, _ = run(lines(40) + lines(3, "c2"))
    assert "Imported 0 messages in 0 conversations; 2 conversations were in already." in out
    assert list(Message.objects.order_by("pk").values()) == before


def test_one_that_differs_is_told_and_the_others_come_in(run):
    run(lines(3))
    out, err = run(lines(3, said="He drove a tram, number {n}.") + lines(2, "c2"))
    assert "Imported 2 messages in 1 conversations" in out
    assert "Left alone: c1: its message 0 differs from the one stored." in err
    assert Message.objects.count() == 5


@pytest.mark.parametrize("arguments", [[], ["--legacy", "Rosa"]])
def test_a_dry_run_counts_and_changes_nothing(run, arguments):
    out, _ = run(lines(40) + lines(2, "c2"), "--dry-run", *arguments)
    assert "There is no user ida: one would be made, with no password." in out
    assert "Would import 42 messages in 2 conversations" in out
    assert not User.objects.exists()
    assert not Legacy.objects.exists()
    run(lines(10))
    out, _ = run(lines(40) + lines(2, "c2"), "--dry-run")
    assert "Would import 32 messages in 2 conversations (1 of them begun before)" in out
    out, _ = run(lines(10), "--dry-run", "--legacy", "Rosa")
    assert "Would import 10 messages" in out
    assert not Legacy.objects.exists()
    assert Message.objects.count() == 10


def test_a_bad_file_names_the_place_and_changes_nothing(run):
    with pytest.raises(CommandError, match=r"file: line 4, column 1: is not JSON") as caught:
        run(lines(3) + "oops\n", "--legacy", "Rosa")
    assert caught.value.returncode == 1
    assert not User.objects.exists()
    assert not Legacy.objects.exists()


def test_a_bad_user_name_is_refused(run, tmp_path):
    (tmp_path / "f").write_text(lines(1))
    with pytest.raises(CommandError, match="is not a user name"):
        call_command("import_conversations", tmp_path / "f", "--format", "jsonl", "--as-user", "a b")
    with pytest.raises(CommandError, match="is not a user name"):
        call_command("import_conversations", tmp_path / "f", "--format", "jsonl", "--as-user", "a b", "--dry-run")


def test_a_speaker_is_named_for_locomo_only(run):
    with pytest.raises(CommandError, match="goes with --format locomo only"):
        run(lines(1), "--user-speaker", "Ida")


def test_the_other_forms(run, settings):
    turns = [{"speaker": name, "dia_id": f"D1:{n}", "text": f"Hello {n}"} for n, name in enumerate(["A", "B"])]
    said = {"speaker_a": "A", "speaker_b": "B", "session_1": turns, "session_1_date_time": "1:00 pm on 8 May, 2023"}
    run(json.dumps([{"sample_id": "conv-1", "conversation": said}]), "--user-speaker", "B", form="locomo")
    messages = [{"id": 0, "role": "user", "time": "March-15-2024", "content": "x" * 40_000}]
    _, err = run(json.dumps({"chats": [{"id": "chat-1", "messages": messages}]}), form="beam")
    assert "Note: chat-1: message 0 has 40,000 characters and was cut to 32,000" in err
    assert dict(Conversation.objects.values_list("channel", "external_id")) == {"locomo": "conv-1", "beam": "chat-1"}
    roles = Message.objects.filter(conversation__channel="locomo").order_by("index").values_list("role", flat=True)
    assert list(roles) == ["assistant", "user"]


def test_stopped_in_the_middle_it_leaves_whole_transactions_and_goes_on(run, monkeypatch):
    calls = []
    real = import_conversations.append_step.__globals__["messages_append"]

    def stop_in_the_second_transaction(*args, **kwargs):
        from conversations.actions import record

        calls.append(1)
        if len(calls) == 2:

            def stop(*args):
                raise KeyboardInterrupt

            with monkeypatch.context() as inside:
                inside.setattr(record, "enqueue", stop)  # Called with everything written, before the commit.
                return real(*args, **kwargs)
        return real(*args, **kwargs)

    monkeypatch.setattr("assistant.imports.loading.messages_append", stop_in_the_second_transaction)
    with pytest.raises(CommandError, match="Run the same command again") as caught:
        run(lines(250))
    assert caught.value.returncode == 130
    assert (Conversation.objects.get().message_count, Message.objects.count()) == (100, 100)
    out, _ = run(lines(250))
    assert "Imported 150 messages in 1 conversations (1 of them begun before)" in out
    assert list(Message.objects.order_by("index").values_list("index", flat=True)) == list(range(250))


def test_somebody_who_appends_meanwhile_is_told(run, monkeypatch):
    run(lines(1))
    step = import_conversations.plan_step

    def outdated(principal, parsed, **target):
        found = step(principal, parsed, **target)
        Conversation.objects.update(message_count=2)
        return found

    monkeypatch.setattr(import_conversations, "plan_step", outdated)
    with pytest.raises(CommandError, match="c1: The conversation has 2 messages by now"):
        run(lines(3))


def test_a_database_that_is_away_is_told_without_a_trace(run, monkeypatch):
    def away(*args, **kwargs):
        raise OperationalError("gone")

    monkeypatch.setattr(import_conversations, "plan_step", away)
    with pytest.raises(CommandError, match="The database is away"):
        run(lines(3))


def test_what_waits_for_a_worker_is_told(run):
    out, _ = run(lines(40))
    assert "Waiting for a worker: 40 messages to be indexed, 40 to be summarised" in out


def test_waiting_processes_everything_to_the_last_message(run, model):
    model.finds(("hobby", "Rosa kept bees.", 0, "kept bees"))
    out, err = run(lines(75) + lines(3, "c2"), "--legacy", "Rosa", "--wait")
    assert "Waiting for a worker" not in out
    assert "Indexing and summarising: 156 of 156" in err
    assert not Message.objects.filter(embedding__isnull=True).exists()
    ranges = ConversationChunk.objects.filter(conversation__external_id="c1").order_by("message_range_start")
    assert list(ranges.values_list("message_range_start", "message_range_end")) == [
        (0, 20),
        (20, 40),
        (40, 60),
        (60, 75),
    ]
    assert Conversation.objects.get(external_id="c2").summarized_upto == 3
    assert "Waiting for a worker" not in run(lines(75) + lines(3, "c2"), "--legacy", "Rosa")[0]


def test_waiting_takes_up_what_an_import_without_it_left(run, model):
    run(lines(35))
    out, _ = run(lines(35), "--wait")
    assert "1 conversations were in already" in out
    assert Conversation.objects.get().summarized_upto == 35


def test_waiting_ends_when_nothing_moves(run, model, monkeypatch):
    monkeypatch.setattr(import_conversations, "STALLED_SECONDS", 0.0)

    def away(request):
        raise ModelUnavailable("overloaded")

    model.answer = away
    with pytest.raises(CommandError, match="35 are left and nothing has moved"):
        run(lines(35), "--wait")
    assert Message.objects.filter(embedding__isnull=True).count() == 0


def test_waiting_for_what_another_worker_holds(run, model, monkeypatch):
    run(lines(3))
    conversation = Conversation.objects.get()
    JobRun.objects.create(
        kind="summarize",
        subject_id=str(conversation.pk),
        user_id=conversation.user_id,
        state="running",
        lease_token=conversation.pk,
        lease_until=timezone.now() + timedelta(hours=1),
    )
    pauses = []

    def meanwhile(seconds):
        pauses.append(seconds)
        JobRun.objects.update(lease_until=timezone.now())

    monkeypatch.setattr(import_conversations.time, "sleep", meanwhile)
    run(lines(3), "--wait")
    conversation.refresh_from_db()
    assert (conversation.summarized_upto, pauses) == (3, [1.0])


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(run):
    _, bar = run(lines(250), stderr=Terminal())
    checking, importing = bar.removesuffix("\n").split("\n")
    assert checking.startswith("\rChecking the file, in bytes [..............................] 0 of 25,")
    assert "[##############################] 25," in checking
    assert importing.startswith("\rImporting messages [..............................] 0 of 250")
    assert "[##############################] 250 of 250" in importing
    assert bar.endswith("\n")
    assert bar.count("\n") == 2
    _, plain = run(lines(250, "c2"))
    assert plain.splitlines()[-1].startswith("Importing messages: 250 of 250")
    assert "\r" not in plain
