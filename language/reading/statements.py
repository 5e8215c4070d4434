"""Reads a batch of messages: extracts what the user states about themself, a legacy and their people.

Each message is normalised, parsed and split into clauses. For each clause the referents are resolved, its assertiveness
is checked, and it is worded in the third person. A clause that fails a step is dropped and counted by reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from language.base import ExtractionRequest, Utterance
from language.reading.asked import RememberRequest, find_asked
from language.reading.clauses import reshaped
from language.reading.echoes import whole_question
from language.reading.filters import doubts_previous, is_prompt_injection
from language.reading.foreign import is_foreign
from language.reading.fragments import subject_asked_about, supply_subjects
from language.reading.kin import relatives_told
from language.reading.message import MessageReader
from language.reading.normalise import is_casual, normalise
from language.reading.parse import parse
from language.reading.passives import passives
from language.reading.people import Cast
from language.reading.persons import Person
from language.reading.refusals import (
    Refusal,
    Turn,
    asks_for_discretion,
    asks_for_secrecy,
    asks_to_keep,
    find_refusal,
    may_refuse,
    says_yes,
)
from language.reading.refusals.wording import begins_with_yes
from language.reading.second_tries import second_try
from language.reading.sentences import own_words
from language.reading.statement_builder import ReadStatement
from language.reading.words import ENGLISH

_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-zà-ÿ]{2,}\b")
_NEVER_MIND = re.compile(
    r"(?i)^(?:\W|please|oh|actually|ok|okay|well|and|so|no|just|sorry|wait|lol|haha)*"
    r"(?:never ?mind|stop remembering (?:that|this|it)|scratch that|(?:i'?m |i was |i am )?(?:just |"
    r"only )?(?:kidding|joking))\b"
)
_NOBODY_NAMED = re.compile(
    r"(?:^|[.!?] )(?!(?:Did|Do|Does|Is|Are|Was|Were|Ha[sd]|Have|Can|Could|Wh\w+|How|Would|Will)\b)[A-Z][\w'-]*"
    r"(?: [a-z][\w'-]*){0,3}\?\s*$"
)
"""A question like "Any pets?"."""
_ASKS_AGE = re.compile(r"(?i)\bhow old was\b|\bat what age\b")
_WITHHELD = "[withheld]"
_MOST_RETRACTION_WORDS = 8
_MOST_ROUNDS = 3
"""In which fragments get their subjects: an age before one hides it."""


@dataclass(slots=True)
class BatchReading:
    """The statements of a batch in order, and the number of dropped clauses by reason.

    ``momentary`` statements hold only now: usable in the conversation, not to be learned. ``refused`` are those that
    the user asked not to keep, and ``refusals`` what each message refuses, by the message's position.
    """

    statements: list[ReadStatement] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    momentary: list[ReadStatement] = field(default_factory=list)
    refused: list[ReadStatement] = field(default_factory=list)
    refusals: Mapping[int, Refusal] = field(default_factory=dict)
    withheld_passages: Mapping[int, list[str]] = field(default_factory=dict)

    def withheld(self, index: int) -> Sequence[str]:
        """The passages of a message that the user asked not to keep."""
        return self.withheld_passages.get(index, ())


def read(request: ExtractionRequest) -> BatchReading:
    """Extract the statements of the user's messages of a batch; never raises."""
    return _BatchReader(request).read()


class _BatchReader:
    def __init__(self, request: ExtractionRequest) -> None:
        self.request = request
        own = [own_words(message.content) for message in request.messages if message.role == "user"]
        self.casual = is_casual([text.strip() for text in own])
        self.cast = Cast.of(request.legacy_name, request.user_name, own)
        words = set(re.findall(r"\w+", " ".join(own).lower()))
        for name, kin in (each for statement in request.known for each in relatives_told(statement)):
            if name.lower() in words:
                self.cast.find_or_add(name=name, kin=kin, owner=self.cast.user).is_introduced = True
        heard = " ".join(message.content for message in request.messages if message.role == "assistant")
        names = {word.lower() for word in _NAME.findall(heard)} - ENGLISH - {"what", "how", "why", "goodbye", "thanks"}
        names |= {person.name.lower() for person in self.cast.others}
        self.names = names | self.cast.legacy_names | {request.user_name.strip().lower()}
        self.dropped: Counter[str] = Counter()
        self.reply = self.question = ""
        self.topic = "I" if self.cast.legacy is None else ""
        self.asked = ""  # Whom the assistant asked about last.
        self.is_of_other = False  # Whether the last statement was about somebody else than the user or the legacy.
        self.deceased: Person | None = None
        self.refusals = _find_refusals(request.messages)
        self.refused: dict[int, list[str]] = {}
        for place, passage in (each for refusal in self.refusals.values() for each in refusal.passages):
            self.refused.setdefault(request.messages[place].index, []).append(passage)

    def read(self) -> BatchReading:
        batches: list[list[ReadStatement]] = []
        for message in self.request.messages:
            if message.role == "assistant":
                self.reply = whole_question(message.content, self.question, self.cast.legacy_names)
                self.question = self.reply if "?" in self.reply else self.question
            if message.role != "user":
                continue
            asked = subject_asked_about(self.reply)
            alone = asked is None and _NOBODY_NAMED.search(self.reply) is not None
            asked_before = self.asked or ("" if self.cast.legacy else "I")
            about = asked if asked is not None else (alone and asked_before) or self.topic
            self.asked = asked or (self.asked if alone else "")
            self.cast.next_message(self.reply, about)
            said = self._message(message, about)
            if said is None:
                self.dropped["taken back"] += len(batches[-1]) if batches else 0
                batches[-1:] = [[]]
            else:
                batches.append(said)
            self.reply = ""
        said = [one for batch in batches for one in batch]
        refused = [one for one in said if self._refused(one)]
        kept = [one for one in said if not self._refused(one)] if refused else said
        passing = [one for one in kept if one.is_momentary]
        self.dropped.update(["refused"] * len(refused) + ["of the moment"] * len(passing))
        lasting = [one for one in kept if not one.is_momentary]
        return BatchReading(lasting, self.dropped, passing, refused, self.refusals, self.refused)

    def _refused(self, statement: ReadStatement) -> bool:
        """Whether the user refused anywhere in the batch that this statement be kept."""
        said = statement.quote
        return any(said in passage or passage in said for passage in self.refused.get(statement.index, ()))

    # --- a message ----------------------------------------------------------------------------------------------

    def _message(self, message: Utterance, about: str) -> list[ReadStatement] | None:
        """The statements of a message; None if it only retracts the message before."""
        if is_prompt_injection(message.content):
            self.dropped["order"] += 1
            return []
        text = own_words(message.content)
        if is_foreign(text):
            self.dropped["not English"] += 1
            return []
        tried = second_try(text)
        is_corrected = tried is not None and tried.denies
        if not is_corrected and any(
            _NEVER_MIND.search(part.replace("’", "'").strip()) for part in re.split(r"(?<=[.!?])\s+|\n", text)
        ):
            self.dropped["taken back"] += 1
            return None if len(text.split()) <= _MOST_RETRACTION_WORDS else []
        topic, notes_of = self._topic_of(text, about)
        own = topic == "I"
        noted = topic if topic in {"He", "She"} else ""
        casual = self.casual or is_casual([text.strip()])
        names = self.names | {person.name.lower() for person in self.cast.others if person.name}
        normalised = normalise(text, names, casual=casual, about=noted, own=own, reply=self.reply, notes_of=notes_of)
        parsed = parse(normalised.text)
        for _ in range(_MOST_ROUNDS):
            edits = (
                reshaped(parsed) or list(supply_subjects(parsed, topic, self.reply)) or list(passives(parsed))
                if parsed
                else []
            )
            if not edits:
                break
            normalised.edit(edits)
            parsed = parse(normalised.text)
        if parsed is None:
            self.dropped["not parsed"] += 1
            return []
        reader = MessageReader(self.cast, message, normalised, self.reply, self.dropped, defaults_to_user=own)
        reader.deceased = self.deceased if _ASKS_AGE.search(self.reply) else None
        done: list[list[ReadStatement]] = []
        order, before, is_secret = None, "", asks_for_secrecy(text)
        for first, last in parsed.sentences:
            words = parsed.words[first:last]
            sentence = parsed.text[words[0].start : words[-1].end].strip()
            if doubts_previous(sentence) and done:
                self.dropped["hedge"] += len(done[-1])
                done[-1] = []
            # Where the parser divides a sentence, its second part is asked for with the first.
            is_open = order is not None and order.form == "what" and not before.endswith((".", "!", "?"))
            order = RememberRequest("what", 0, len(sentence)) if is_open else find_asked(sentence)
            before = sentence
            if order is None and (is_secret or asks_for_discretion(sentence)):
                self.dropped["discretion"] += 1
                continue
            if order is not None and order.form == "before":
                done[-1:] = [[replace(one, is_explicit=True) for one in each] for each in done[-1:]]
                continue
            done.append(list(reader.sentence(parsed, first, last, order)))
        if reader.last_person is not None:
            self.is_of_other = reader.last_person.role == "other"
        self.topic, self.deceased = _topic(reader.last_person) or topic, reader.deceased
        # What is said beside a yes to the question whether something may be kept puts it right.
        agrees = asks_to_keep(self.reply) and begins_with_yes(text) and not says_yes(text)
        said = [replace(one, is_explicit=one.is_explicit or agrees) for each in done for one in each]
        return _without_repeated_names(said)

    def _topic_of(self, text: str, about: str) -> tuple[str, str]:
        """The subject of a message's fragments, and whom its labelled rows are about."""
        is_asked = subject_asked_about(self.reply) is not None
        strays = self.is_of_other and not is_asked  # Notes are of the user or the legacy.
        if strays and self.casual and self.cast.legacy is None and "?" not in self.reply:
            return "I", "I"  # Who chats leaves out "I" first.
        return about or ("" if is_asked else self.cast.elided_subject(text)), "I" if strays else about


def _topic(person: Person | None) -> str:
    """The subject that the next message's fragments share: "I", "He" or "She"; empty without one."""
    if person is None or person.role == "user":
        return "I" if person is not None else ""
    return {"m": "He", "f": "She"}.get(person.gender, "")


def _find_refusals(messages: Sequence[Utterance]) -> dict[int, Refusal]:
    """What the user's messages refuse, by position; what was withheld for one is not looked for in earlier ones."""
    gone = [_WITHHELD in message.content for message in messages]
    said = [each.content if is_gone else own_words(each.content) for each, is_gone in zip(messages, gone, strict=True)]
    turns = [Turn(message.role, text) for message, text in zip(messages, said, strict=True)]
    found = {}
    for position, message in enumerate(messages):
        if message.role == "user" and not gone[position] and may_refuse(turns[position].content):
            refusal = find_refusal(turns, position)
            if refusal is not None:
                found[position] = refusal
    return found


def _without_repeated_names(statements: list[ReadStatement]) -> list[ReadStatement]:
    """Without statements that only name a relative whom another statement of the message names too."""
    kept = []
    for one in statements:
        named = re.search(r" (?:had|has) an? ([\w-]+) named (.+)\.$", one.content)
        others = [other for other in statements if not other.is_momentary]
        if not named or not any(f"{named[1]} {named[2]}" in other.content for other in others):
            kept.append(one)
    return kept
