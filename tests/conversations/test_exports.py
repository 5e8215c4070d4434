"""ChatGPT and Claude exports: what of them is read, what is left out and counted, what is refused and where."""

import contextlib
import copy
import io
import json
import struct
import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conversations.imports import FORMS, ImportFileError, detect_form, iter_importable, members_of, survey_file
from conversations.imports.forms import Survey, get_form
from conversations.imports.gathering import CUT_MARKER, PARTS, clean, split
from conversations.imports.streams import MAX_DEPTH, read_lines, read_list

from .exports import (
    STARTED,
    chatgpt_conversation,
    chatgpt_message,
    chatgpt_talk,
    chatgpt_zip,
    claude_conversation,
    claude_message,
    claude_talk,
    zipped,
)

STARTED_AT = datetime(2024, 5, 1, 8, tzinfo=UTC)


def read(content, name="conversations.json"):
    """The conversations of a file of whatever form, as they would be imported, and what was counted."""
    if not isinstance(content, bytes):
        content = json.dumps(content).encode()
    members = members_of(io.BytesIO(content), name)
    survey = Survey()
    return [found for _, found in iter_importable(detect_form(members).read(members), survey)], survey


def contents(conversation):
    return [(message.role, message.content) for message in conversation.messages]


def refusal(content, name="conversations.json"):
    with pytest.raises(ImportFileError) as caught:
        read(content, name)
    return str(caught.value)


class TestChatGPT:
    def test_a_conversation_with_its_title_its_id_and_its_times(self):
        (found,), survey = read([chatgpt_talk("Hello", "Hi!", "Bye")])
        assert (found.external_id, found.title) == ("chat-1", "The garden")
        assert contents(found) == [("user", "Hello"), ("assistant", "Hi!"), ("user", "Bye")]
        assert [message.at - STARTED_AT for message in found.messages] == [timedelta(minutes=n) for n in range(3)]
        assert (survey.conversations, survey.messages, survey.skipped) == (1, 3, {})

    def test_an_archive_as_it_comes(self):
        (found,), _ = read(chatgpt_zip(chatgpt_talk("Hello")), "export.zip")
        assert contents(found) == [("user", "Hello")]
        assert found.place == "conversations.json, conversation 1"

    def test_a_split_export_is_read_in_order_and_its_numbered_files_count(self):
        files = {f"conversations-{n:03}.json": [chatgpt_talk(f"Hello {n}", name=f"chat-{n}")] for n in (2, 0, 1)}
        found, _ = read(zipped({**files, "conversations.json": [], "export_manifest.json": {}}), "export.zip")
        assert [conversation.external_id for conversation in found] == ["chat-0", "chat-1", "chat-2"]
        assert found[2].place == "conversations-002.json, conversation 1"

    def test_an_archive_within_a_folder_and_with_a_mac_s_leftovers(self):
        packed = zipped({"export/conversations.json": [chatgpt_talk("A")], "__MACOSX/export/conversations.json": b"?"})
        assert len(read(packed)[0]) == 1

    def test_the_path_that_was_shown_last_is_taken_and_the_others_are_counted(self):
        conversation = chatgpt_talk("Which tree?", "A pear.", "And then?", "A plum.")
        again = {"id": "again", "message": chatgpt_message("assistant", "An apple."), "parent": "n0", "children": []}
        edited = {"id": "edited", "message": chatgpt_message("user", "Why?"), "parent": "again", "children": []}
        conversation["mapping"] |= {"again": again, "edited": edited}
        (found,), survey = read([conversation])
        assert [text for _, text in contents(found)] == ["Which tree?", "A pear.", "And then?", "A plum."]
        assert survey.skipped == {"branches": 2}
        (found,), survey = read([{**conversation, "current_node": "edited"}])
        assert [text for _, text in contents(found)] == ["Which tree?", "An apple.", "Why?"]
        assert survey.skipped == {"branches": 3}

    @pytest.mark.parametrize("current", [None, "", "gone"])
    def test_without_a_known_last_message_it_is_the_latest(self, current):
        conversation = chatgpt_talk("Which tree?", "A pear.")
        later = chatgpt_message("assistant", "An apple.", at=STARTED + 999)
        conversation["mapping"]["later"] = {"id": "later", "message": later, "parent": "n0", "children": []}
        conversation["mapping"]["empty"] = {"id": "empty", "message": None, "parent": "n0", "children": []}
        (found,), _ = read([{**conversation, "current_node": current}])
        assert [text for _, text in contents(found)] == ["Which tree?", "An apple."]

    @pytest.mark.parametrize("change", [lambda nodes: nodes.pop("n0"), lambda nodes: nodes.update(n0=None)])
    def test_it_begins_where_an_earlier_message_was_deleted(self, change):
        conversation = chatgpt_talk("Which tree?", "A pear.", "And then?")
        change(conversation["mapping"])
        (found,), _ = read([conversation])
        assert [text for _, text in contents(found)] == ["A pear.", "And then?"]

    @pytest.mark.parametrize("current", ["n0", "gone"])
    def test_a_circle_is_refused(self, current):
        conversation = chatgpt_talk("Which tree?", "A pear.", current_node=current)
        conversation["mapping"].pop("root")
        conversation["mapping"]["n0"]["parent"] = "n1"
        told = "conversations.json, conversation 2: its messages follow each other in a circle"
        assert refusal([chatgpt_talk("A"), conversation]) == told

    @pytest.mark.parametrize(
        ("message", "reason"),
        [
            (chatgpt_message("system", "You are ChatGPT."), "system"),
            (chatgpt_message("user", "x", metadata={"is_visually_hidden_from_conversation": True}), "hidden"),
            (chatgpt_message("user", kind="user_editable_context"), "instructions"),
            (chatgpt_message("assistant", kind="model_editable_context"), "instructions"),
            (chatgpt_message("assistant", "search()", recipient="browser"), "tool"),
            (chatgpt_message("assistant", kind="code"), "tool"),
            (chatgpt_message("tool", "3 results"), "tool"),
            (chatgpt_message("tool", kind="execution_output"), "tool"),
            (chatgpt_message("tool", kind="tether_quote"), "tool"),
            (chatgpt_message("assistant", kind="thoughts"), "reasoning"),
            (chatgpt_message("assistant", "Let me see.", channel="analysis"), "reasoning"),
            (chatgpt_message("assistant", ""), "empty"),
            (chatgpt_message("assistant", "  \n"), "empty"),
            (chatgpt_message("assistant", content=None), "empty"),
            (chatgpt_message("assistant", kind="hologram"), "unknown"),
            (chatgpt_message("critic", "Bad."), "unknown"),
            (chatgpt_message("user", "x", author=None), "unknown"),
        ],
    )
    def test_what_nobody_says_to_anybody_is_left_out_and_counted(self, message, reason):
        conversation = chatgpt_conversation(chatgpt_message("user", "Hello"), message, chatgpt_message("user", "Bye"))
        (found,), survey = read([conversation])
        assert [text for _, text in contents(found)] == ["Hello", "Bye"]
        assert survey.skipped == {reason: 1}

    def test_the_empty_system_message_of_every_conversation_is_not_counted(self):
        _, survey = read([chatgpt_conversation(chatgpt_message("system", ""), chatgpt_message("user", "Hello"))])
        assert survey.skipped == {}

    def test_a_node_without_a_message_is_passed_over(self):
        conversation = chatgpt_talk("Hello", "Hi!", "Bye")
        conversation["mapping"]["n1"]["message"] = None
        (found,), survey = read([conversation])
        assert ([text for _, text in contents(found)], survey.skipped) == (["Hello", "Bye"], {})

    def test_files_are_named_and_not_imported(self):
        picture = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file-1", "width": 10}
        drawn = {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file-9"}
        attachments = [{"id": "file-1", "name": "photo.jpg"}, {"id": "file-2", "name": "notes.pdf"}, None, {}]
        message = chatgpt_message(
            "user", picture, drawn, "My grandmother", kind="multimodal_text", metadata={"attachments": attachments}
        )
        (found,), survey = read([chatgpt_conversation(message)])
        told = ["My grandmother", "[attachment: photo.jpg]", "[attachment: notes.pdf]", "[attachment: file]"]
        assert found.messages[0].content.split("\n") == [*told[:3], "[attachment: image]"]
        assert survey.skipped == {"attachments": 3}

    def test_a_picture_alone_is_a_message(self):
        picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}
        (found,), _ = read([chatgpt_conversation(chatgpt_message("user", picture, kind="multimodal_text"))])
        assert contents(found) == [("user", "[attachment: image]")]

    def test_of_what_was_spoken_the_words_are_taken(self):
        spoken = {"content_type": "audio_transcription", "text": "She kept bees.", "direction": "in"}
        sound = {"content_type": "real_time_user_audio_video_asset_pointer", "audio_asset_pointer": {}}
        said = chatgpt_message("user", spoken, sound, kind="multimodal_text")
        lost = chatgpt_message("user", sound, kind="multimodal_text")
        (found,), _ = read([chatgpt_conversation(said, lost)])
        assert [text for _, text in contents(found)] == ["She kept bees.", "[attachment: audio]"]

    def test_text_that_is_not_in_parts(self):
        message = chatgpt_message("user", content={"content_type": "text", "text": "Hello"})
        assert contents(read([chatgpt_conversation(message)])[0][0]) == [("user", "Hello")]

    def test_times_that_are_missing_are_those_before(self):
        messages = [chatgpt_message("user", f"{n}", at=at) for n, at in enumerate([None, STARTED + 5.25, None, 0])]
        (found,), _ = read([chatgpt_conversation(*messages)])
        later = STARTED_AT + timedelta(seconds=5.25)
        assert [message.at for message in found.messages] == [
            STARTED_AT,
            later,
            later,
            datetime(1970, 1, 1, tzinfo=UTC),
        ]
        (found,), _ = read([chatgpt_conversation(messages[0], create_time=None)])
        assert found.messages[0].at is None

    def test_an_empty_title_and_an_old_id(self):
        conversation = chatgpt_talk("Hello", title=None)
        del conversation["conversation_id"]
        (found,), _ = read([conversation])
        assert (found.external_id, found.title) == ("chat-1", "")

    def test_a_title_fits_on_one_line(self):
        (found,), _ = read([chatgpt_talk("Hello", title="A\nlong\x00 " + "t" * 300)])
        assert found.title == ("A long " + "t" * 300)[:200]

    def test_conversations_without_a_message_and_repeated_ones_are_counted(self):
        empty = chatgpt_conversation(chatgpt_message("system", "You are"), name="empty")
        found, survey = read(
            [empty, {**empty, "mapping": {}, "id": "e2", "conversation_id": "e2"}, *[chatgpt_talk("A")] * 2]
        )
        assert len(found) == 1
        assert survey.skipped == {"system": 1, "empty_conversations": 2, "repeated": 1}
        assert survey.notes == ["conversations.json, conversation 4: is in the file twice; the first one counts"]

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"mapping": None}, ".mapping: is missing"),
            ({"mapping": []}, ".mapping: is not an object"),
            ({"mapping": {"n1": 5}}, ".mapping.n1: is not an object"),
            ({"current_node": 5}, ".current_node: is not text"),
            ({"id": None, "conversation_id": None}, ".id: is missing"),
            ({"id": 5, "conversation_id": None}, ".id: is not text"),
            ({"conversation_id": "x" * 256}, ".conversation_id: has more than 255 characters"),
            ({"title": 5}, ".title: is not text"),
            ({"create_time": "yesterday"}, ".create_time: is not a time in seconds"),
            ({"create_time": True}, ".create_time: is not a time in seconds"),
            ({"create_time": 1e20}, ".create_time: is not a time in seconds"),
            ({"mapping": {"n1": {"parent": 7}}}, ".mapping.n1.parent: is not text"),
            ({"mapping": {"n1": {"message": 7}}}, ".mapping.n1.message: is not an object"),
        ],
    )
    def test_a_bad_conversation_is_refused_with_the_place(self, change, told):
        conversation = {**chatgpt_talk("Hello", "Hi!"), **change}
        assert refusal([chatgpt_talk("A", name="first"), conversation]) == f"conversations.json, conversation 2{told}"

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"content": []}, ".content: is not an object"),
            ({"content": {"content_type": 5}}, ".content.content_type: is not text"),
            ({"content": {"content_type": "text", "parts": "Hello"}}, ".content.parts: is not a list"),
            ({"author": "user"}, ".author: is not an object"),
            ({"author": {"role": 5}}, ".author.role: is not text"),
            ({"create_time": []}, ".create_time: is not a time in seconds"),
            ({"recipient": 5, "author": {"role": "assistant"}}, ".recipient: is not text"),
            ({"metadata": {"attachments": {}}}, ".metadata.attachments: is not a list"),
        ],
    )
    def test_a_bad_message_is_refused_with_the_place(self, change, told):
        conversation = chatgpt_conversation({**chatgpt_message("user", "Hello"), **change})
        assert refusal([conversation]) == f"conversations.json, conversation 1.mapping.n0.message{told}"


class TestClaude:
    def test_a_conversation_with_its_title_its_id_and_its_times(self):
        (found,), survey = read([claude_talk("Hello", "Hi!", "Bye")])
        assert (found.external_id, found.title) == ("talk-1", "The boat")
        assert contents(found) == [("user", "Hello"), ("assistant", "Hi!"), ("user", "Bye")]
        assert [message.at - STARTED_AT for message in found.messages] == [timedelta(minutes=n) for n in range(3)]
        assert survey.skipped == {}

    def test_an_archive_as_it_comes(self):
        packed = zipped(
            {"users.json": [], "projects.json": [], "memories.json": [], "conversations.json": [claude_talk("A")]}
        )
        assert detect_form(members_of(io.BytesIO(packed), "data.zip")).name == "claude"

    def test_the_latest_path_is_taken_and_the_others_are_counted(self):
        messages = claude_talk("Which boat?", "The red one.", "Why?", "It floats.")["chat_messages"]
        messages.append(claude_message("again", "assistant", "The blue one.", parent="m0", minute=30))
        (found,), survey = read([claude_conversation(*messages)])
        assert [text for _, text in contents(found)] == ["Which boat?", "The blue one."]
        assert survey.skipped == {"branches": 3}
        (found,), _ = read([claude_conversation(*messages, current_leaf_message_uuid="m3")])
        assert len(found.messages) == 4

    def test_an_older_export_does_not_say_what_answers_what(self):
        messages = claude_talk("Which boat?", "The red one.", "Why?")["chat_messages"]
        for message in messages:
            del message["parent_message_uuid"]
        (found,), survey = read([claude_conversation(*messages)])
        assert ([text for _, text in contents(found)], survey.skipped) == (["Which boat?", "The red one.", "Why?"], {})

    def test_a_circle_is_refused(self):
        messages = claude_talk("Which boat?", "The red one.")["chat_messages"]
        messages[0]["parent_message_uuid"] = "m1"
        told = "conversations.json, conversation 1: its messages follow each other in a circle"
        assert refusal([claude_conversation(*messages)]) == told
        assert refusal([claude_conversation(*messages, current_leaf_message_uuid="m0")]) == told

    def test_blocks_that_are_no_text_are_left_out_and_counted(self):
        blocks = [
            {"type": "thinking", "thinking": "Hm."},
            {"type": "text", "text": "One."},
            {"type": "tool_use", "name": "search", "input": {}},
            {"type": "tool_result", "content": []},
            {"type": "voice_note", "text": "Two."},
            {"type": "hologram"},
        ]
        repeated = "One.\n```\nThis block is not shown here.\n```"
        message = claude_message("m0", "assistant", content=blocks, text=repeated)
        (found,), survey = read([claude_conversation(message)])
        assert contents(found) == [("assistant", "One.\nTwo.")]
        assert survey.skipped == {"reasoning": 1, "tool": 2, "unknown": 1}

    def test_an_older_export_has_one_text(self):
        for change in ({"content": []}, {"content": None}):
            message = {**claude_message("m0", "human", text="Hello"), **change}
            assert contents(read([claude_conversation(message)])[0][0]) == [("user", "Hello")]

    def test_files_are_named_and_what_is_in_them_is_not_imported(self):
        attachments = [{"file_name": "", "extracted_content": "SECRET"}, {"file_name": "a.txt"}, None]
        files = [{"file_name": "photo.jpg"}, {"file_name": "a.txt"}]
        message = claude_message("m0", "human", "Look", attachments=attachments, files=files)
        (found,), survey = read([claude_conversation(message)])
        told = "Look\n[attachment: pasted text]\n[attachment: a.txt]\n[attachment: photo.jpg]"
        assert contents(found) == [("user", told)]
        assert survey.skipped == {"attachments": 3}

    def test_others_than_the_two_are_left_out(self):
        messages = [claude_message("m0", "human", "A"), claude_message("m1", "system", "B", parent="m0")]
        messages += [claude_message("m2", "robot", "C", parent="m1"), claude_message("m3", "human", "", parent="m2")]
        (found,), survey = read([claude_conversation(*messages, current_leaf_message_uuid="m3")])
        assert (contents(found), survey.skipped) == ([("user", "A")], {"system": 1, "unknown": 1, "empty": 1})

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"chat_messages": None}, ".chat_messages: is missing"),
            ({"chat_messages": [5]}, ".chat_messages[0]: is not an object"),
            ({"uuid": None}, ".uuid: is missing"),
            ({"name": []}, ".name: is not text"),
            ({"created_at": "yesterday"}, ".created_at: 'yesterday' is not an ISO 8601 time"),
            ({"chat_messages": [claude_message("a", "human", "x")] * 2}, ".chat_messages[1].uuid: is there twice"),
            ({"chat_messages": [claude_message("a", "human", content={})]}, ".chat_messages[0].content: is not a list"),
            ({"chat_messages": [claude_message("a", None, "x")]}, ".chat_messages[0].sender: is missing"),
        ],
    )
    def test_a_bad_conversation_is_refused_with_the_place(self, change, told):
        assert refusal([{**claude_talk("Hello"), **change}]) == f"conversations.json, conversation 1{told}"


class TestTexts:
    def test_what_can_t_be_seen_is_removed(self):
        text = " a\x00b\x1b[31m\r\nc\rd\u2028e\tf\x85\ud83d \ue200cite\ue202turn0search1\ue201g "
        assert clean(text) == "ab[31m\nc\nd\ne\tf g"

    def test_half_an_emoji_at_the_end_of_a_text_is_no_fault(self):
        text = json.dumps([chatgpt_talk("It is \ud83d")])
        assert contents(read(text.encode())[0][0]) == [("user", "It is")]

    def test_a_long_text_becomes_several_messages_of_the_same_time(self, settings):
        settings.MESSAGE_MAX_CHARACTERS = 40
        (found,), survey = read([chatgpt_talk("She planted a pear tree. Then she rested for a very long while.")])
        assert [text for _, text in contents(found)] == [
            "She planted a pear tree.",
            "Then she rested for a very long while.",
        ]
        assert len({message.at for message in found.messages}) == 1
        assert survey.notes == [
            "conversations.json, conversation 1.mapping.n0.message: has 63 characters and became 2 messages"
        ]

    def test_what_is_longer_still_is_cut(self, settings):
        settings.MESSAGE_MAX_CHARACTERS = 100
        (found,), survey = read([chatgpt_talk("x" * 5_000)])
        assert len(found.messages) == PARTS
        assert found.messages[-1].content.endswith(CUT_MARKER)
        assert {len(message.content) for message in found.messages} == {100}
        assert "what came after 10 messages was cut" in survey.notes[0]

    @given(st.text(alphabet="ab .\n"), st.integers(min_value=2, max_value=12))
    def test_splitting_loses_blanks_only(self, text, longest):
        parts = split(text.strip(), longest)
        assert all(part and len(part) <= longest for part in parts)
        assert "".join("".join(parts).split()) == "".join(text.split())


class TestForms:
    def test_each_form_is_recognised(self):
        sample = [{"sample_id": "c", "conversation": {}}]
        line = json.dumps({"conversation": "c", "role": "user", "content": 'about "chats"'})
        for content, name in (
            (json.dumps([chatgpt_talk("A")]), "chatgpt"),
            (" \n" + json.dumps([claude_talk("A")]), "claude"),
            (json.dumps(sample), "locomo"),
            (json.dumps({"source": "x", "chats": []}), "beam"),
            (line + "\n" + line, "jsonl"),
            ("\ufeff" + line, "jsonl"),
        ):
            assert detect_form(members_of(io.BytesIO(content.encode()), "f")).name == name

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b"", "is neither a zip archive nor JSON"),
            (b"%PDF-1.7 ...", "is neither a zip archive nor JSON"),
            (b"\x1f\x8b\x08\x00", "is a gzip archive: unpack it"),
            (b"Rar!\x1a\x07", "is a RAR archive"),
            (b"[]", "the file holds no conversation"),
            (b'[{"messages": []}]', "f, conversation 1: has no form that Keepsake knows"),
            (b'{"messages": []}', "line 1: has no form that Keepsake knows"),
            (b'{"conversation"', "line 1: has no form that Keepsake knows"),
            (b"[1]", "f (byte 2): is not a list of conversations"),
        ],
    )
    def test_what_is_none_of_them_is_refused(self, content, told):
        assert refusal(content, "f").startswith(told)

    def test_a_file_without_a_message_is_refused(self):
        members = members_of(io.BytesIO(json.dumps([chatgpt_conversation()]).encode()), "f")
        with pytest.raises(ImportFileError, match="holds no conversation with a message"):
            survey_file(FORMS["chatgpt"], members, lambda survey: None)

    def test_reading_goes_on_after_those_that_were_read(self):
        files = {f"conversations-{n}.json": [chatgpt_talk("A", name=f"{n}{m}") for m in "ab"] for n in range(2)}
        for form, content in (
            ("chatgpt", zipped(files)),
            (
                "jsonl",
                "\n".join(json.dumps({"conversation": c, "role": "user", "content": "x"}) for c in "abcd").encode(),
            ),
            (
                "beam",
                json.dumps(
                    {
                        "chats": [
                            {"id": c, "messages": [{"id": 0, "role": "user", "time": "March-15-2024", "content": "x"}]}
                            for c in "abcd"
                        ]
                    }
                ).encode(),
            ),
        ):
            members = members_of(io.BytesIO(content), "f")
            every = [found.external_id for found in FORMS[form].read(members)]
            assert len(every) == 4
            assert [found.external_id for found in FORMS[form].read(members, 3)] == every[3:]

    def test_the_speaker_of_a_dataset(self):
        assert get_form("locomo", user_speaker="Ida").name == "locomo"
        assert get_form("claude") is FORMS["claude"]

    def test_notes_beyond_fifty_are_counted(self, settings):
        settings.MESSAGE_MAX_CHARACTERS = 4
        conversation = chatgpt_talk(*["long text"] * 60)
        _, survey = read([conversation])
        assert (len(survey.notes), survey.more_notes) == (50, 10)


class TestArchives:
    @pytest.mark.parametrize(
        ("files", "told"),
        [
            ({"chat.html": b""}, "holds no conversations.json"),
            ({"conversations.txt": b"[]"}, "holds no conversations.json"),
            (
                {"inner.zip": b"PK"},
                "holds no conversations.json, so it is not an export that Keepsake knows; it holds the archive inner",
            ),
            ({"a/conversations.json": [], "b/conversations.json": []}, "holds more than one export: a/conv"),
            ({"../conversations.json": []}, "../conversations.json: has a name that leads out of the archive"),
            ({"/etc/conversations.json": []}, "/etc/conversations.json: has a name that leads out"),
            ({"C:/conversations.json": []}, "C:/conversations.json: has a name that leads out"),
            ({"conversations.json": b"nonsense"}, "is neither a zip archive nor JSON"),
        ],
    )
    def test_what_is_no_export_is_refused(self, files, told):
        assert refusal(zipped(files), "export.zip").startswith(told)

    def test_the_same_name_twice_is_refused(self):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            archive.writestr("conversations.json", "[]")
            with pytest.warns(UserWarning, match="Duplicate name"):
                archive.writestr("conversations.json", "[]")
        assert refusal(packed.getvalue()).startswith("holds more than one export")

    def test_a_broken_off_download_is_told(self):
        packed = chatgpt_zip(chatgpt_talk("Hello"))
        assert refusal(packed[: len(packed) // 2]).startswith(
            "is not a complete zip archive: perhaps its download broke off"
        )

    def test_damage_inside_is_told_with_the_file(self):
        packed = bytearray(zipped({"conversations.json": [chatgpt_talk("Hello " * 500)]}))
        packed[60:80] = bytes(20)
        assert refusal(bytes(packed)).startswith("conversations.json: is damaged")

    def test_a_locked_one_is_refused(self):
        packed = bytearray(zipped({"conversations.json": [chatgpt_talk("Hello")]}))
        directory = packed.index(b"PK\x01\x02")
        packed[directory + 8] |= 1
        packed[6] |= 1
        assert refusal(bytes(packed)).startswith("conversations.json: is locked with a password")

    def test_an_unusual_packing_is_refused(self):
        packed = zipped({"conversations.json": [chatgpt_talk("Hello")]}, zipfile.ZIP_BZIP2)
        assert refusal(packed).startswith("conversations.json: is packed in a way that is not known")

    def test_a_link_is_refused(self):
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            info = zipfile.ZipInfo("conversations.json")
            info.external_attr = 0o120777 << 16
            archive.writestr(info, "/etc/passwd")
        assert refusal(packed.getvalue()).startswith("conversations.json: is a link")

    def test_a_bomb_is_refused_before_it_is_unpacked(self):
        bomb = zipped({"conversations.json": b"[" + b" " * 30_000_000 + b"]"})
        assert len(bomb) < 100_000
        assert "times as large when it is unpacked" in refusal(bomb)

    def test_what_would_be_too_much_unpacked_is_refused(self, settings):
        settings.IMPORT_MAX_CONTENT_BYTES = 1_000
        for content in (zipped({"conversations.json": b"[" + b" " * 3_000_000}), b"[" + b" " * 3_000_000):
            assert refusal(content) == "holds 2 MB of conversations, and at most 0 MB are imported"

    def test_a_stated_size_that_is_too_small_is_found_out(self):
        packed = bytearray(zipped({"conversations.json": [chatgpt_talk("Hello " * 500)]}))
        directory = packed.index(b"PK\x01\x02")
        packed[directory + 24 : directory + 28] = struct.pack("<L", 1_000)
        assert "damaged" in refusal(bytes(packed))

    def test_too_many_files_are_refused_before_they_are_listed(self):
        packed = bytearray(zipped({"conversations.json": []}))
        end = packed.rindex(b"PK\x05\x06")
        packed[end + 12 : end + 16] = struct.pack("<L", 500_000_000)
        assert refusal(bytes(packed)).startswith("is an archive of too many files")


class TestStreams:
    @pytest.mark.parametrize(
        ("content", "told"),
        [
            (b'[{"a": 1}, {"b": "\xff"}]', "f, conversation 2 (byte 18): is not UTF-8 text"),
            (b'[{"a": 1}, {"b":', "f, conversation 2 (byte 16): the file ends in the middle"),
            (b'[{"a": "b', "f, conversation 1 (byte 9): the file ends in the middle"),
            (b'[{"a": 1}, {"b": [}]', "f, conversation 2 (byte 18): is not JSON (Expecting value)"),
            (b'[{"a": NaN}]', "f, conversation 1 (byte 1): holds a number that JSON does not know"),
            (b'[{"a": 1}] more', "f (byte 10): something comes after the end of the list"),
            (b'[{"a": 1} {"b": 2}]', "f, conversation 2 (byte 9): is not an object"),
            (b'[{"a": 1}, "x", {"b": 2}]', "f, conversation 2 (byte 9): is not an object"),
            (b'[{"a": 1},]', "f, conversation 1 (byte 10): is not a list of conversations"),
            (b'[{"a": 1}}', "f, conversation 1 (byte 9): is not a list of conversations"),
            (b"]", "f (byte 0): is not a list of conversations"),
            (b'{"a": 1}', "f (byte 0): is not a list of conversations"),
            (b"hello", "f (byte 5): is not a list of conversations"),
            (b'[{"a": ' + b"[" * 100_000, f"f, conversation 1 (byte {7 + MAX_DEPTH - 2}): is nested more than"),
            (b"[" * 100_000, "f, conversation 1 (byte 1): is not an object"),
        ],
    )
    def test_a_fault_is_told_with_its_byte(self, content, told):
        with pytest.raises(ImportFileError) as caught:
            [item.parsed() for item in read_list(io.BytesIO(content), "f")]
        assert str(caught.value).startswith(told)

    def test_a_conversation_that_would_fill_the_memory_is_refused(self, settings):
        settings.IMPORT_MAX_CONVERSATION_BYTES = 1_048_576
        content = b'[{"a": 1}, {"b": "' + b"x" * 3_000_000 + b'"}]'
        with pytest.raises(
            ImportFileError, match=r"conversation 2 \(byte 11\): a conversation of more than 1 MB begins here"
        ):
            list(read_list(io.BytesIO(content), "f"))
        with pytest.raises(ImportFileError, match="line 2: has more than 1 MB"):
            list(read_lines(io.BytesIO(b"{}\n" + b"x" * 3_000_000)))

    @given(
        st.lists(
            st.dictionaries(st.text('"\\{}[]é,', max_size=4), st.lists(st.text() | st.none(), max_size=3)), max_size=4
        ),
        st.integers(min_value=1, max_value=40),
    )
    @example([{"[[": []}], 1)
    @example([{'"': []}], 2)
    def test_any_list_comes_out_as_the_standard_parser_reads_it(self, items, size):
        content = json.dumps(items).encode()
        stream = io.BytesIO(content)

        class Dripping:
            def read(self, _):
                return stream.read(size)

        assert [item.parsed() for item in read_list(Dripping(), "f")] == json.loads(content)

    @given(st.binary(max_size=60))
    def test_any_bytes_are_read_or_refused(self, content):
        for beginning in (b"", b"[", b'[{"mapping": ', b'[{"chat_messages": [', b"PK\x03\x04"):
            with contextlib.suppress(ImportFileError):
                read(beginning + content)

    @given(st.data())
    def test_any_damage_to_an_export_is_survived(self, data):
        """One value anywhere is exchanged for another: the export is read, or refused with a reason."""
        make = data.draw(st.sampled_from([chatgpt_talk, claude_talk]))
        conversation = copy.deepcopy(make("Hello", "Hi!"))
        at, key = conversation, data.draw(st.sampled_from(sorted(conversation)))
        while isinstance(at[key], dict | list) and at[key] and data.draw(st.booleans()):
            at = at[key]
            key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        at[key] = data.draw(st.sampled_from([None, 5, -1.5, True, "x", "n0", "m1", [], {}, [None], {"x": None}]))
        with contextlib.suppress(ImportFileError):
            read([conversation])
