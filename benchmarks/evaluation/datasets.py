"""Parse questions and their gold messages from LoCoMo and BEAM files."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conversations.imports import ImportFileError, ParsedConversation, ParsedFile, parse_beam, parse_locomo
from conversations.imports.records import Node, parse_json

LOCOMO_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
APART = frozenset({"adversarial"})
"""Categories of unanswerable questions: reported, but excluded from the overall figures."""

_LOCOMO_ID = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the indices, from 0, of the messages that answer it."""

    text: str
    category: str
    gold: frozenset[int]


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation and its questions. Questions with missing or invalid evidence are only counted."""

    conversation: ParsedConversation
    channel: str
    questions: tuple[Question, ...]
    skipped: int


def parse_cases(form: str, text: str) -> list[Case]:
    """Parse a dataset file in the format ``locomo`` or ``beam``.

    Raises ImportFileError, with the place in the file, when it is invalid or has no question to score.
    """
    cases = _locomo_cases(text) if form == "locomo" else _beam_cases(text)
    if not any(case.questions for case in cases):
        raise ImportFileError("", "the file holds no question with valid evidence")
    return cases


def _locomo_cases(text: str) -> list[Case]:
    parsed = parse_locomo(text)
    return [
        _case(parsed, conversation, [_locomo_question(item) for item in sample["qa"].as_items()])
        for sample, conversation in zip(Node(parse_json(text)).as_items(), parsed.conversations, strict=True)
    ]


def _locomo_question(item: Node) -> tuple[str, str, list[str]]:
    number = item["category"].value
    category = LOCOMO_CATEGORIES.get(number) if isinstance(number, int) else None
    if category is None:
        raise ImportFileError(item["category"].path, f"is none of {', '.join(map(str, LOCOMO_CATEGORIES))}")
    evidence = item["evidence"]
    said = "" if evidence.value is None else " ".join(str(part.value) for part in evidence.as_items())
    return item["question"].as_text(), category, [_locomo_id(match) for match in _LOCOMO_ID.finditer(said)]


def _locomo_id(match: re.Match[str]) -> str:
    """Normalise a turn's id: ``D:8:06`` means ``D8:6``."""
    return f"D{int(match[1])}:{int(match[2])}"


def _beam_cases(text: str) -> list[Case]:
    parsed = parse_beam(text)
    return [
        _case(parsed, conversation, [_beam_question(item) for item in chat["questions"].as_items()])
        for chat, conversation in zip(Node(parse_json(text))["chats"].as_items(), parsed.conversations, strict=True)
    ]


def _beam_question(item: Node) -> tuple[str, str, list[str]]:
    gold = item["gold"]
    ids = [] if gold.value is None else [str(part.value) for part in gold.as_items()]
    return item["question"].as_text(), item["ability"].as_text(), ids


def _case(parsed: ParsedFile, conversation: ParsedConversation, asked: list[tuple[str, str, list[str]]]) -> Case:
    places = {message.source_id: place for place, message in enumerate(conversation.messages)}
    questions = [
        Question(text, category, frozenset(places[name] for name in ids if name in places))
        for text, category, ids in asked
    ]
    scored = tuple(question for question in questions if question.gold)
    return Case(conversation, parsed.channel, scored, len(questions) - len(scored))
