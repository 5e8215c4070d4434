"""Which tools to call for what a person said: by rule, from the statements and requests that the reader finds.

The first round adds, changes and deletes. The second takes up additions that were refused because something about the
same subject is known: that is then changed. After it there is nothing left to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from language.base import ExtractionRequest, KnownMemory, MemoryCandidate, ToolCall, ToolRequest, ToolRound, Utterance
from language.offline import modality
from language.offline.candidates import memory_candidates
from language.offline.compare import compare, compare_senses, sense_of
from language.offline.forgetting import find_ended, find_forgetting, meant
from language.offline.joining import in_one_sentence
from language.offline.lines import Line, Lines, lines_of
from language.offline.reading import read_statements
from language.offline.rewrite import MAX_CONTENT

ADD, UPDATE, DELETE = "add_to_memory", "update_memory", "delete_memory"

_SINGLE_VALUED = frozenset({"preferred_name", "pronouns", "city", "language", "tone"})
_NAMED_ID = re.compile(r"\[id:([A-Za-z0-9]{8})\]")
_NO_LONGER = re.compile(r"\bno longer\b")
_ANY_MORE = re.compile(r" any ?more\b")
# Where somebody lives and what they work is one thing at a time: the new one takes the old one's place.
_STATES = ({"live", "move"}, {"work"}, {"study"})
_MOST_WORDS_TO_POINT = 8

Wish = tuple[str, dict[str, object]]


def choose(request: ToolRequest) -> tuple[ToolCall, ...]:
    """The calls of the coming round; none when there is nothing, or nothing more, to do."""
    if not request.rounds:
        wishes = _first_round(request)
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


def _first_round(request: ToolRequest) -> list[Wish]:
    """In the order in which things were said."""
    lines = lines_of(request.messages)
    reading = ExtractionRequest(request.messages, request.user_name, None, (), request.memory_categories)
    found: list[tuple[int, Wish]] = []
    changed = set()
    for candidate in _latest(memory_candidates(read_statements(reading, lines), reading)):
        outdated, known = _outdated(candidate, request.memories)
        if outdated is not None:
            changed.add(outdated.id)
            found.append((candidate.indices[0], (UPDATE, _change(outdated.id, candidate))))
        elif not known:
            found.append((candidate.indices[0], (ADD, _addition(candidate))))
    for message, line, memory in _forgotten(request, reading, lines):
        if memory.id not in changed:
            changed.add(memory.id)
            quote = message.content[line.sentence.start : line.sentence.end]
            evidence = {"index": message.index, "quote": quote}
            found.append((message.index, (DELETE, {"memory_id": memory.id, "evidence": evidence})))
    return [wish for _, wish in sorted(found, key=lambda one: one[0])]


def _second_round(request: ToolRequest, earlier: ToolRound) -> Iterator[Wish]:
    """Change what a refused addition ran into, keeping what is known beside it."""
    results = {result.call_id: result for result in earlier.results}
    memories = {memory.id: memory for memory in request.memories}
    changed = {call.arguments.get("memory_id") for call in earlier.calls}
    for call in earlier.calls:
        result = results.get(call.id)
        if call.name != ADD or result is None or result.ok:
            continue
        named = [memories[code] for code in _NAMED_ID.findall(result.content) if code in memories]
        content = _brought_together(named[0], str(call.arguments["content"])) if len(named) == 1 else None
        if content is None or named[0].id in changed:
            continue
        changed.add(named[0].id)
        rest = {name: call.arguments[name] for name in ("explicit", "evidence") if name in call.arguments}
        yield UPDATE, {"memory_id": named[0].id, "content": content, **rest}


def _brought_together(known: KnownMemory, new: str) -> str | None:
    """What a memory says once it says the new thing too, or None when it does already or can't hold it."""
    one, other = sense_of(known.content), sense_of(new)
    verdict = compare_senses(one, other)
    if verdict == "same":
        return None
    if verdict == "contradicts" or any(one.bag & verbs and other.bag & verbs for verbs in _STATES):
        return new
    both = in_one_sentence((known.content, new)) or f"{known.content.rstrip()} {new}"
    return both if len(both) <= MAX_CONTENT else None


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


def _outdated(candidate: MemoryCandidate, memories: Sequence[KnownMemory]) -> tuple[KnownMemory | None, bool]:
    """The memory that holds no longer with what was said now, if there is one, and whether it is known already."""
    sense = sense_of(candidate.content)
    contradicted = []
    for memory in memories:
        known = sense_of(memory.content)
        verdict = _verdict(memory.content, candidate.content)
        same_field = candidate.field in _SINGLE_VALUED and memory.field == candidate.field
        if verdict == "same" or (same_field and sense.denied == known.denied and sense.bag <= known.bag):
            return None, True
        if verdict == "contradicts" or same_field:
            contradicted.append(memory)
    return max(contradicted, key=lambda memory: memory.date, default=None), False


def _verdict(known: str, new: str) -> str:
    return compare(*(_ANY_MORE.sub("", _NO_LONGER.sub("not", content)) for content in (known, new)))


def _forgotten(
    request: ToolRequest, reading: ExtractionRequest, lines: Lines
) -> Iterator[tuple[Utterance, Line, KnownMemory]]:
    """The memories that the person asks to be forgotten or says to be over, with the message and sentence for each."""
    for position, message in enumerate(request.messages):
        if message.role != "user" or modality.is_instruction(message.content):
            continue
        for line in lines[message.index]:
            forgetting = (find_forgetting(line.tokens) or find_ended(line.tokens)) if line.readable else None
            if forgetting is None:
                continue
            if forgetting.tokens:
                memories = meant(forgetting, request.memories)
            elif len(message.content.split()) <= _MOST_WORDS_TO_POINT:
                memories = _just_said(request, reading, lines, position)
            else:
                memories = []
            for memory in memories:
                yield message, line, memory


def _just_said(request: ToolRequest, reading: ExtractionRequest, lines: Lines, position: int) -> list[KnownMemory]:
    """What is known of what the person said in their message before: "forget that" means it."""
    before = [message for message in request.messages[:position] if message.role == "user"]
    if not before:
        return []
    earlier = ExtractionRequest(request.messages[:position], reading.user_name, None, (), reading.memory_categories)
    said = [one.statement for one in read_statements(earlier, lines) if one.index == before[-1].index]
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
