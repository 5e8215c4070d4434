"""Which tools to call for what a person said: by rule, from the statements and requests that the reader finds.

The first round adds, changes and deletes. The second takes up additions that were refused because something about the
same subject is known: that is changed if it can hold both, otherwise the addition is made beside it. After that nothing
is left to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from language.base import ExtractionRequest, KnownMemory, MemoryCandidate, ToolCall, ToolRequest, ToolRound
from language.offline import modality
from language.offline.compare import Sense, compare, compare_senses, sense_of
from language.offline.forgetting import find_ended, find_forgetting, meant
from language.offline.joining import in_one_sentence
from language.offline.reading import Lines, lines_of
from language.reading.candidates import memory_candidates
from language.reading.statements import read

ADD, UPDATE, DELETE = "add_to_memory", "update_memory", "delete_memory"

_SINGLE_VALUED = frozenset({"preferred_name", "pronouns", "city", "language", "tone"})
_NAMED_ID = re.compile(r"\[id:([A-Za-z0-9]{8})\]")
_NO_LONGER = re.compile(r"\bno longer\b")
_ANY_MORE = re.compile(r" any ?more\b")
# Where somebody lives and what they work is one thing at a time: the new one takes the old one's place.
_STATES = ({"live", "move"}, {"work"}, {"study"})
_MOST_WORDS_TO_POINT = 8


@dataclass(frozen=True, slots=True)
class _Wish:
    """A call to make: for what the message ``index`` says from its character ``at`` on."""

    name: str
    arguments: dict[str, object]
    index: int
    at: int


@dataclass(frozen=True, slots=True)
class _Known:
    memory: KnownMemory
    sense: Sense


def choose(request: ToolRequest) -> tuple[ToolCall, ...]:
    """The calls of the coming round; none when there is nothing, or nothing more, to do."""
    if not request.rounds:
        wishes = [(wish.name, wish.arguments) for wish in _first_round(request)]
    elif len(request.rounds) == 1:
        wishes = list(_second_round(request, request.rounds[0]))
    else:
        return ()
    offered = {tool.name for tool in request.tools}
    possible = [(name, arguments) for name, arguments in wishes if name in offered]
    return tuple(
        ToolCall(f"call_{len(request.rounds) + 1}_{number}", name, arguments)
        for number, (name, arguments) in enumerate(possible[: request.calls_left], start=1)
    )


def _first_round(request: ToolRequest) -> list[_Wish]:
    """In the order in which things were said."""
    lines = lines_of(request.messages)
    reading = ExtractionRequest(request.messages, request.user_name, request.legacy_name, (), request.memory_categories)
    contents = {message.index: message.content for message in request.messages}
    wishes: list[_Wish] = []
    changed: set[object] = set()
    known = [_Known(memory, _plain_sense(memory.content)) for memory in request.memories]
    for candidate in _latest(memory_candidates(read(reading), reading)):
        outdated, is_known = _outdated(candidate, known)
        index, at = candidate.indices[0], contents[candidate.indices[0]].find(candidate.quote)
        if outdated is not None:
            changed.add(outdated.id)
            wishes.append(_Wish(UPDATE, _change(outdated.id, candidate), index, at))
        elif not is_known:
            wishes.append(_Wish(ADD, _addition(candidate), index, at))
    for wish in _deletions(request, reading, lines):
        if wish.arguments["memory_id"] not in changed:
            changed.add(wish.arguments["memory_id"])
            wishes.append(wish)
    return sorted(wishes, key=lambda wish: (wish.index, wish.at))


def _second_round(request: ToolRequest, earlier: ToolRound) -> Iterator[tuple[str, dict[str, object]]]:
    """What becomes of each addition that ran into something known."""
    results = {result.call_id: result for result in earlier.results}
    memories = {memory.id: memory for memory in request.memories}
    changed = {call.arguments.get("memory_id") for call in earlier.calls}
    for call in earlier.calls:
        result = results.get(call.id)
        if call.name != ADD or result is None or result.ok:
            continue
        named = {memories[code] for code in _NAMED_ID.findall(result.content) if code in memories}
        known = named.pop() if len(named) == 1 else None
        if known is None or known.id in changed or compare(known.content, str(call.arguments["content"])) == "same":
            continue
        content = _brought_together(known.content, str(call.arguments["content"]))
        if content is not None:
            changed.add(known.id)
            rest = {name: call.arguments[name] for name in ("explicit", "evidence") if name in call.arguments}
            yield UPDATE, {"memory_id": known.id, "content": content, **rest}
        elif _may_insist(request):
            yield ADD, {**call.arguments, "insist": True}


def _brought_together(known: str, new: str) -> str | None:
    """What a memory says once it says the new thing too, or None when that needs judgement."""
    one, other = sense_of(known), sense_of(new)
    over = _verdict(known, new) == "contradicts" or any(one.bag & verbs and other.bag & verbs for verbs in _STATES)
    return new if over else in_one_sentence((known, new))


def _may_insist(request: ToolRequest) -> bool:
    schema = next((tool.input_schema for tool in request.tools if tool.name == ADD), {})
    properties = schema.get("properties")
    return isinstance(properties, Mapping) and "insist" in properties


def _latest(candidates: Sequence[MemoryCandidate]) -> list[MemoryCandidate]:
    """Leave out what the person said otherwise later on."""
    kept: list[MemoryCandidate] = []
    for candidate in sorted(candidates, key=lambda one: one.indices[-1]):
        kept = [one for one in kept if not _replaces(candidate, one)]
        kept.append(candidate)
    return kept


def _replaces(new: MemoryCandidate, old: MemoryCandidate) -> bool:
    same_field = new.field in _SINGLE_VALUED and new.field == old.field
    return same_field or _verdict(old.content, new.content) == "contradicts"


def _outdated(candidate: MemoryCandidate, known: Sequence[_Known]) -> tuple[KnownMemory | None, bool]:
    """The memory that holds no longer with what was said now, if there is one, and whether it is known already."""
    sense = _plain_sense(candidate.content)
    over = []
    for each in known:
        verdict = compare_senses(each.sense, sense)
        same_field = candidate.field in _SINGLE_VALUED and each.memory.field == candidate.field
        if verdict == "same" or (same_field and sense.denied == each.sense.denied and sense.bag <= each.sense.bag):
            return None, True
        if verdict == "contradicts" or same_field:
            over.append(each.memory)
    return max(over, key=lambda memory: memory.date, default=None), False


def _verdict(known: str, new: str) -> str:
    return compare_senses(_plain_sense(known), _plain_sense(new))


def _plain_sense(content: str) -> Sense:
    """What a sentence says as it holds now: "no longer likes" is "does not like"."""
    return sense_of(_ANY_MORE.sub("", _NO_LONGER.sub("not", content)))


def _deletions(request: ToolRequest, reading: ExtractionRequest, lines: Lines) -> Iterator[_Wish]:
    """Of what the person asks to be forgotten or says to be over."""
    for position, message in enumerate(request.messages):
        if message.role != "user" or modality.is_instruction(message.content):
            continue
        short = len(message.content.split()) <= _MOST_WORDS_TO_POINT
        for line in (line for line in lines[message.index] if line.readable):
            asked = find_forgetting(line.tokens)
            forgetting = asked or find_ended(line.tokens)
            if forgetting is None:
                continue
            if forgetting.tokens:
                memories = meant(forgetting, request.memories)
            else:
                memories = _just_said(request, reading, position) if short else []
            start, end = line.sentence.start, line.sentence.end
            explicit: dict[str, object] = {"explicit": True} if asked is not None else {}
            evidence = {"index": message.index, "quote": message.content[start:end]}
            for memory in memories:
                arguments: dict[str, object] = {"memory_id": memory.id, **explicit, "evidence": evidence}
                yield _Wish(DELETE, arguments, message.index, start)


def _just_said(request: ToolRequest, reading: ExtractionRequest, position: int) -> list[KnownMemory]:
    """What is known of what the person said in their message before: "forget that" means it."""
    before = [message for message in request.messages[:position] if message.role == "user"]
    if not before:
        return []
    earlier = replace(reading, messages=request.messages[:position])
    said = [one for one in read(earlier).statements if one.index == before[-1].index]
    return [
        memory
        for memory in request.memories
        if any(compare(memory.content, statement.content) == "same" for statement in said)
    ]


def _addition(candidate: MemoryCandidate) -> dict[str, object]:
    optional = {"subject": candidate.subject, "field": candidate.field, "explicit": candidate.explicit}
    return {
        "content": candidate.content,
        "category": candidate.category,
        **{name: value for name, value in optional.items() if value},
        "importance": candidate.importance,
        "evidence": _evidence(candidate),
    }


def _change(memory_id: str, candidate: MemoryCandidate) -> dict[str, object]:
    explicit: dict[str, object] = {"explicit": True} if candidate.explicit else {}
    return {"memory_id": memory_id, "content": candidate.content, **explicit, "evidence": _evidence(candidate)}


def _evidence(candidate: MemoryCandidate) -> dict[str, object]:
    return {"index": candidate.indices[0], "quote": candidate.quote}
