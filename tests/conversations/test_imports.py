"""Conversations from files: what the parsers read, what they refuse and where, what the loader appends."""

import contextlib
import copy
import io
import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.queries import principal_for_person
from assistant.imports.loading import append_step, plan_step
from conversations.actions import NewMessage, messages_append
from conversations.imports import ImportFileError, parse_beam, parse_locomo, read_text
from conversations.imports.gathering import CUT_MARKER
from conversations.imports.jsonl import read_jsonl
from conversations.imports.sources import members_of
from conversations.models import Conversation, Message
from journal.exceptions import Conflict
from journal.models import Ledger


def locomo():
    """A sample with two sessions, written out of order, and a date without a session."""
    return [
        {
            "sample_id": "conv-1",
            "qa": [],
            "conversation": {
                "speaker_a": "Ida",
                "speaker_b": "Bruno",
                "session_10_date_time": "12:09 am on 3 June, 2021",
                "session_10": [{"speaker": "Bruno", "dia_id": "D10:1", "text": "Still painting?"}],
                "session_2_date_time": "1:56 pm on 28 February, 2021",
                "session_2": [
                    {"speaker": "Ida", "dia_id": "D2:1", "text": "I repaired the boat."},
                    {"speaker": "Bruno", "dia_id": "D2:2", "text": "Show me!", "blip_caption": "a red boat"},
                    {"speaker": "Ida", "dia_id": "D2:3", "text": "", "blip_caption": "a harbour"},
                ],
                "session_11_date_time": "1:00 pm on 4 June, 2021",
                "session_12": [],
            },
        }
    ]


def beam():
    """A chat over two days."""
    return {
        "source": "written for this test",
        "chats": [
            {
                "id": "chat-1",
                "questions": [],
                "messages": [
                    {"id": 0, "role": "user", "time": "March-15-2024", "content": "Which trail is dry?"},
                    {"id": 1, "role": "assistant", "time": "March-15-2024", "content": "The one by the lake."},
                    {"id": 2, "role": "user", "time": None, "content": "Thank you."},
                    {"id": 3, "role": "user", "time": "April-02-2024", "content": "Back again."},
                ],
            }
        ],
    }


def changed(document, *path, value=None, drop=False):
    """A copy of a document with one value changed, or dropped."""
    made = copy.deepcopy(document)
    at = made
    for key in path[:-1]:
        at = at[key]
    if drop:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return json.dumps(made)


def refusal(parse, text):
    with pytest.raises(ImportFileError) as caught:
        parse(text)
    return str(caught.value)


class TestLocomo:
    def test_sessions_follow_each_other_by_number(self):
        (conversation,) = parse_locomo(json.dumps(locomo())).conversations
        assert [message.source_id for message in conversation.messages] == ["D2:1", "D2:2", "D2:3", "D10:1"]
        assert (conversation.external_id, conversation.title) == ("conv-1", "Ida and Bruno")

    def test_the_date_of_a_session_is_the_time_of_its_first_turn(self):
        (conversation,) = parse_locomo(json.dumps(locomo())).conversations
        times = [message.at for message in conversation.messages]
        assert times[0] == datetime(2021, 2, 28, 13, 56, tzinfo=UTC)
        assert times[3] == datetime(2021, 6, 3, 0, 9, tzinfo=UTC)
        assert times == sorted(set(times))
        assert times[2] - times[0] < timedelta(minutes=1)

    def test_a_caption_stands_in_brackets_after_the_text(self):
        (conversation,) = parse_locomo(json.dumps(locomo())).conversations
        contents = [message.content for message in conversation.messages]
        assert contents[1] == "Show me! [image: a red boat]"
        assert contents[2] == "[image: a harbour]"

    @pytest.mark.parametrize(
        ("user_speaker", "roles"),
        [
            ("", ["user", "assistant", "user", "assistant"]),
            ("Ida", ["user", "assistant", "user", "assistant"]),
            ("Bruno", ["assistant", "user", "assistant", "user"]),
        ],
    )
    def test_one_speaker_is_the_user(self, user_speaker, roles):
        (conversation,) = parse_locomo(json.dumps(locomo()), user_speaker=user_speaker).conversations
        assert [message.role for message in conversation.messages] == roles
        assert [message.speaker for message in conversation.messages] == ["Ida", "Bruno", "Ida", "Bruno"]

    def test_a_user_who_does_not_speak_is_refused(self):
        with pytest.raises(ImportFileError, match=r"\[0\]\.conversation: nobody is called 'Zoe'.*Ida and Bruno"):
            parse_locomo(json.dumps(locomo()), user_speaker="Zoe")

    def test_a_turn_without_words_is_left_out_and_told(self):
        text = changed(locomo(), 0, "conversation", "session_2", 0, "text", value=" ")
        parsed = parse_locomo(text)
        assert [message.source_id for message in parsed.conversations[0].messages] == ["D2:2", "D2:3", "D10:1"]
        assert parsed.notes == ("conv-1: message D2:1 is empty and was left out",)

    SESSION = (0, "conversation", "session_2")

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("[]", "the file holds no conversation"),
            ("{}", "the document: is not a list"),
            ("3", "the document: is not a list"),
            ("[3]", "[0]: is not an object"),
            ('[{"sample_id": "x"', "line 1, column 19: is not JSON"),
            (changed(locomo(), 0, "sample_id", drop=True), "[0].sample_id: is missing"),
            (changed(locomo(), 0, "sample_id", value="x" * 256), "[0].sample_id: has more than 255 characters"),
            (changed(locomo(), 0, "sample_id", value="a\x00b"), "[0].sample_id: holds a NUL"),
            (changed(locomo(), 0, "conversation", value={}), "[0].conversation.speaker_a: is missing"),
            (changed(locomo(), 0, "conversation", "speaker_b", value=7), "[0].conversation.speaker_b: is not text"),
            (changed(locomo(), 0, "conversation", "speaker_b", value="b" * 200), "[0].conversation: has more than 200"),
            (changed(locomo(), *SESSION, value="talk"), "[0].conversation.session_2: is not a list"),
            (changed(locomo(), *SESSION, 0, value="talk"), "[0].conversation.session_2[0]: is not an object"),
            (changed(locomo(), *SESSION, 0, "text", value=5), "[0].conversation.session_2[0].text: is not text"),
            (changed(locomo(), *SESSION, 0, "text", value="\ud800"), "[0].conversation.session_2[0]: it holds a NUL"),
            (
                changed(locomo(), *SESSION, 0, "speaker", value="s" * 101),
                "[0].conversation.session_2[0]: the speaker's name has more than 100",
            ),
            (
                changed(locomo(), 0, "conversation", "session_2_date_time", drop=True),
                "[0].conversation.session_2_date_time: is missing",
            ),
            (
                changed(locomo(), 0, "conversation", "session_2_date_time", value="8 May 2023"),
                "[0].conversation.session_2_date_time: '8 May 2023' is not a time like",
            ),
            (
                json.dumps([{"sample_id": "x", "conversation": {"speaker_a": "A", "speaker_b": "B"}}]),
                "[0].conversation: holds no message",
            ),
            (json.dumps(locomo() * 2), "[1]: the id 'conv-1' is there twice"),
            ("[" * 100_000, "is nested too deeply"),
        ],
    )
    def test_a_bad_file_is_refused_with_the_place(self, text, reason):
        assert refusal(parse_locomo, text).startswith(reason)


class TestBeam:
    def test_messages_of_a_day_keep_their_order_and_their_day(self):
        (conversation,) = parse_beam(json.dumps(beam())).conversations
        times = [message.at for message in conversation.messages]
        assert [time.date().isoformat() for time in times] == ["2024-03-15"] * 3 + ["2024-04-02"]
        assert times == sorted(set(times))
        assert times[0].hour == 12
        assert [message.source_id for message in conversation.messages] == ["0", "1", "2", "3"]
        assert [message.role for message in conversation.messages] == ["user", "assistant", "user", "user"]

    def test_a_message_of_full_length_is_kept(self, settings):
        text = "x" * settings.MESSAGE_MAX_CHARACTERS
        parsed = parse_beam(changed(beam(), "chats", 0, "messages", 1, "content", value=text))
        assert parsed.conversations[0].messages[1].content == text
        assert parsed.notes == ()

    def test_a_longer_one_is_cut_with_a_marker_and_told(self, settings):
        text = "x" * (settings.MESSAGE_MAX_CHARACTERS + 1)
        parsed = parse_beam(changed(beam(), "chats", 0, "messages", 1, "content", value=text))
        content = parsed.conversations[0].messages[1].content
        assert len(content) == settings.MESSAGE_MAX_CHARACTERS
        assert content.endswith(CUT_MARKER)
        assert parsed.notes == ("chat-1: message 1 has 32,001 characters and was cut to 32,000",)

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ('{"chats": []}', "chats: the file holds no conversation"),
            ("[]", "the document: is not an object"),
            ("{}", "chats: is missing"),
            (changed(beam(), "chats", 0, "id", value=None), "chats[0].id: is missing"),
            (changed(beam(), "chats", 0, "id", value=True), "chats[0].id: is not text"),
            (changed(beam(), "chats", 0, "messages", value=[]), "chats[0]: holds no message"),
            (changed(beam(), "chats", 0, "messages", 2, "role", value="robot"), "chats[0].messages[2]: the role is"),
            (
                changed(beam(), "chats", 0, "messages", 0, "time", value=None),
                "chats[0].messages[0].time: is missing, and no message before it has a day",
            ),
            (
                changed(beam(), "chats", 0, "messages", 3, "time", value="2024-04-02"),
                "chats[0].messages[3].time: '2024-04-02' is not a day like",
            ),
            (json.dumps({"chats": beam()["chats"] * 2}), "chats[1]: the id 'chat-1' is there twice"),
        ],
    )
    def test_a_bad_file_is_refused_with_the_place(self, text, reason):
        assert refusal(parse_beam, text).startswith(reason)


def parse_jsonl(text):
    """The conversations of JSON lines, in the order in which they end."""
    content = text.encode(errors="surrogatepass")
    return list(read_jsonl(members_of(io.BytesIO(content), "file")))


def line(**members):
    return json.dumps({"conversation": "c1", "role": "user", "content": "Hello", **members})


class TestJsonLines:
    def test_lines_of_a_conversation_may_stand_apart(self):
        text = "\n".join(
            [
                line(at="2024-05-01T10:00:00+02:00", speaker="Ida"),
                line(conversation="c2", content="Other", title="Two"),
                "",
                line(role="assistant", content="Hi", title="One"),
                line(content="Bye", title="Late", at="2024-05-02"),
            ]
        )
        second, first = parse_jsonl(text)
        assert (first.external_id, first.title) == ("c1", "One")
        assert [message.content for message in first.messages] == ["Hello", "Hi", "Bye"]
        assert [message.source_id for message in first.messages] == ["1", "4", "5"]
        assert first.messages[0].at == datetime(2024, 5, 1, 8, tzinfo=UTC)
        assert first.messages[0].speaker == "Ida"
        assert first.messages[1].at is None
        assert first.messages[2].at == datetime(2024, 5, 2, tzinfo=UTC)
        assert (second.external_id, second.title, len(second.messages)) == ("c2", "Two", 1)

    def test_a_line_separator_within_a_text_is_no_new_line(self):
        (conversation,) = parse_jsonl('{"conversation": "c", "role": "user", "content": "a\u2028b"}\r\n')
        assert conversation.messages[0].content == "a\u2028b"

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("", "the file holds no message"),
            ("\n \n", "the file holds no message"),
            (line() + "\n{not json}", "line 2, column 2: is not JSON"),
            ("[1]", "line 1: is not a JSON object"),
            (line(contents="x"), "line 1: contents is not known; a line has conversation, role, content, speaker"),
            (line(conversation=""), "line 1, conversation: is not text"),
            (line(conversation=5), "line 1, conversation: is not text"),
            ('{"conversation": "c", "role": "user"}', "line 1, content: is missing"),
            (line(role="robot"), "line 1: the role is one of user, assistant, system, tool"),
            (line(content="x" * 32_001), "line 1: the content has more than 32,000 characters"),
            (line(content="a\x00b"), "line 1: it holds a NUL character"),
            (line(content="\udfff"), "line 1: it holds a NUL character"),
            (line(speaker=[]), "line 1, speaker: is not text"),
            (line(title="t" * 201), "line 1, title: has more than 200"),
            (line(at="yesterday"), "line 1, at: 'yesterday' is not an ISO 8601 time"),
            (line(at=17), "line 1, at: is not text"),
            (line(at="2999-01-01T00:00:00Z"), "line 1: its time (at) is more than a day ahead"),
            (line(at="0001-01-01T00:00:00+10:00"), "line 1, at: '0001-01-01T00:00:00+10:00' is not an ISO 8601 time"),
        ],
    )
    def test_a_bad_line_is_refused_with_its_number(self, text, reason):
        assert refusal(parse_jsonl, text).startswith(reason)

    @given(st.text())
    def test_any_text_parses_or_is_refused(self, text):
        with contextlib.suppress(ImportFileError):
            assert parse_jsonl(text)

    @given(st.lists(st.tuples(st.sampled_from("ab"), st.text(min_size=1, max_size=20)), min_size=1))
    def test_every_message_comes_out_once_in_its_conversation(self, said):
        said = [(name, content) for name, content in said if content.strip() and "\x00" not in content]
        if not said:
            return
        text = "\n".join(line(conversation=name, content=content) for name, content in said)
        found = {
            conversation.external_id: [message.content for message in conversation.messages]
            for conversation in parse_jsonl(text)
        }
        expected = {}
        for name, content in said:
            expected.setdefault(name, []).append(content)
        assert found == expected


class TestReading:
    def test_a_byte_order_mark_is_no_part_of_the_text(self, tmp_path):
        (tmp_path / "f").write_bytes(b"\xef\xbb\xbf[]")
        assert read_text(tmp_path / "f") == "[]"

    def test_what_is_no_file_and_what_is_no_text_are_refused(self, tmp_path):
        (tmp_path / "f").write_bytes(b"ab\xff")
        with pytest.raises(ImportFileError, match=r"^is not UTF-8 text \(byte 2\)$"):
            read_text(tmp_path / "f")
        with pytest.raises(ImportFileError, match=r"^can't be read: No such file or directory$"):
            read_text(tmp_path / "missing")
        with pytest.raises(ImportFileError, match=r"^can't be read: Is a directory$"):
            read_text(tmp_path)


@pytest.fixture
def said():
    """``said(n)`` is a conversation of n messages, parsed; the same for the same n, and a beginning of any longer."""

    def make(count, **members):
        text = "\n".join(
            line(content=f"Message {n}", role=("user", "assistant")[n % 2], at=f"2024-01-{n % 28 + 1:02}", **members)
            for n in range(count)
        )
        (conversation,) = parse_jsonl(text)
        return conversation

    return make


@pytest.mark.django_db
class TestLoading:
    def bring_in(self, person, parsed, legacy_id=None):
        principal = principal_for_person(person.pk)
        step = plan_step(principal, parsed, channel="jsonl", legacy_id=legacy_id)
        return step, list(append_step(principal, step, channel="jsonl", legacy_id=legacy_id))

    def test_a_conversation_comes_in_whole_and_once(self, owner, said):
        step, appended = self.bring_in(owner, said(230, title="Garden"))
        assert (step.missing, appended) == (230, [100, 100, 30])
        conversation = Conversation.objects.get()
        assert (conversation.user, conversation.channel, conversation.external_id) == (owner, "jsonl", "c1")
        assert (conversation.title, conversation.message_count) == ("Garden", 230)
        messages = list(Message.objects.order_by("index"))
        assert [message.content for message in messages] == [f"Message {n}" for n in range(230)]
        assert messages[3].at == datetime(2024, 1, 4, tzinfo=UTC)
        assert Ledger.objects.get(pk=owner.pk).turns == 230
        step, appended = self.bring_in(owner, said(230))
        assert (step.missing, appended) == (0, [])
        assert Message.objects.count() == 230

    def test_a_stopped_one_goes_on_where_it_stopped(self, owner, said):
        principal = principal_for_person(owner.pk)
        step = plan_step(principal, said(230), channel="jsonl", legacy_id=None)
        next(append_step(principal, step, channel="jsonl", legacy_id=None))
        step, appended = self.bring_in(owner, said(230))
        assert (step.stored, appended) == (100, [100, 30])
        assert list(Message.objects.order_by("index").values_list("index", flat=True)) == list(range(230))

    def test_a_file_that_has_grown_brings_what_is_new(self, owner, said):
        self.bring_in(owner, said(5))
        assert self.bring_in(owner, said(8))[1] == [3]

    def test_what_was_said_after_the_import_stays(self, owner, said):
        self.bring_in(owner, said(5))
        principal = principal_for_person(owner.pk)
        messages_append(principal, Conversation.objects.get().pk, [NewMessage("user", "And later?")])
        step, appended = self.bring_in(owner, said(5))
        assert (step.missing, step.objection, appended) == (0, "", [])
        assert Message.objects.count() == 6

    def test_one_that_differs_is_left_alone(self, owner, said):
        self.bring_in(owner, said(5))
        principal = principal_for_person(owner.pk)
        messages_append(principal, Conversation.objects.get().pk, [NewMessage("user", "And later?")])
        step = plan_step(principal, said(8), channel="jsonl", legacy_id=None)
        assert (step.missing, step.objection) == (0, "its message 5 differs from the one stored")

    def test_one_about_another_legacy_is_left_alone(self, owner, legacy, said):
        self.bring_in(owner, said(5))
        step = plan_step(principal_for_person(owner.pk), said(8), channel="jsonl", legacy_id=legacy.pk)
        assert step.missing == 0
        assert "another legacy" in step.objection

    def test_two_people_import_the_same_file(self, owner, member, legacy, said):
        for person in (owner, member):
            assert self.bring_in(person, said(3), legacy.pk)[1] == [3]
        assert Conversation.objects.filter(legacy=legacy).count() == 2

    def test_somebody_who_appends_meanwhile_ends_it(self, owner, said):
        principal = principal_for_person(owner.pk)
        step = plan_step(principal, said(230), channel="jsonl", legacy_id=None)
        batches = append_step(principal, step, channel="jsonl", legacy_id=None)
        next(batches)
        messages_append(principal, Conversation.objects.get().pk, [NewMessage("user", "Hello?")])
        with pytest.raises(Conflict):
            next(batches)
        assert Message.objects.count() == 101
