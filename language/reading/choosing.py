"""Which tools to call for what a person said, from the statements and refusals that the reader finds.

The first round adds, changes and deletes. The second takes up additions that were refused because something about the
same subject is known: that is changed if it can hold both, otherwise the addition is made beside it. After that nothing
is left to do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from language.base import ExtractionRequest, KnownMemory, MemoryCandidate, ToolCall, ToolRequest, ToolRound, Utterance

from .candidates import memory_candidates
from .compare import Saying, compare
from .condensing import in_one_sentence
from .corrections import Correction, corrections_in
from .filters import steers
from .refusals import Refusal, Turn, hear, may_refuse, named
from .revising import in_third_person, moved_in, with_rest
from .sentences import own_words
from .statements import Reading, read

ADD, UPDATE, DELETE = "add_to_memory", "update_memory", "delete_memory"

_WISHES_A_NAME = re.compile(r"\b(?:call\w*|names?|nicknam\w+|goes by|known as|prefers?|address\w*)\b", re.IGNORECASE)
_SINGLE_VALUED = frozenset({"preferred_name", "pronouns", "city", "language", "tone"})
_NAMED_ID = re.compile(r"\[id:([A-Za-z0-9]{8})\]")
_AT_ODDS = frozenset({"replaces", "contradicts"})


@dataclass(frozen=True, slots=True)
class _Wish:
    """A call to make: for what the message ``index`` says from its character ``at`` on."""

    name: str
    arguments: dict[str, object]
    index: int
    at: int


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
    batch = ExtractionRequest(request.messages, request.user_name, request.legacy_name, (), request.memory_categories)
    contents = {message.index: message.content for message in request.messages}
    reading = read(batch)
    wishes: list[_Wish] = []
    changed: set[object] = set()
    known = [(memory, Saying(in_third_person(memory.content))) for memory in request.memories]
    found, moved = _moved(memory_candidates(reading, batch), request)
    latest, put_right = _put_right(_latest(found, contents), request, [one.content for one in found])
    for wish in (*put_right, *moved):
        changed.add(wish.arguments["memory_id"])
        wishes.append(wish)
    # What holds now goes before what does no more: "I'm no nurse any more, I'm a midwife."
    for candidate, saying in sorted(latest, key=lambda each: each[1].only_denies):
        outdated, is_known = _outdated(candidate, saying, known)
        if outdated is not None and outdated.field == "preferred_name" and not _WISHES_A_NAME.search(candidate.content):
            continue  # Who is called Mia may say "I'm Maria" all the same.
        by = saying if is_known else _denial_beside(candidate, saying, latest)
        if by is not saying:
            outdated = _outdated(candidate, by, known)[0] or outdated
        index, at = candidate.indices[0], contents[candidate.indices[0]].find(candidate.quote)
        if outdated is not None and outdated.id not in changed:
            changed.add(outdated.id)
            content = with_rest(outdated.content, candidate.content, by)
            # What they are called or where they live is theirs to say: it waits for nobody.
            explicit = candidate.explicit or outdated.field in _SINGLE_VALUED
            change = _change(outdated.id, replace(candidate, content=content, explicit=explicit))
            wishes.append(_Wish(UPDATE, change, index, at))
        elif outdated is not None and saying.only_denies:
            continue
        elif not is_known:
            wishes.append(_Wish(ADD, _addition(candidate), index, at))
    for wish in _deletions(request, reading, known):
        if wish.arguments["memory_id"] not in changed:
            changed.add(wish.arguments["memory_id"])
            wishes.append(wish)
    return sorted(wishes, key=lambda wish: (wish.index, wish.at))


def _put_right(
    found: Sequence[tuple[MemoryCandidate, Saying]], request: ToolRequest, told: Sequence[str]
) -> tuple[list[tuple[MemoryCandidate, Saying]], list[_Wish]]:
    """What was found, with what the person corrected of it, and the changes to memories of what they corrected.

    What was said before in the same part is meant rather than a memory, and a memory only if no other says it too.
    ``told`` is what was said, also what holds no longer.
    """
    left, wishes = list(found), []
    before_it = [*told, *(memory.content for memory in request.memories)]
    for message in request.messages:
        for each in corrections_in(own_words(message.content)) if message.role == "user" else ():
            before = [place for place, (one, _) in enumerate(left) if one.indices[0] < message.index]
            said = [place for place in before if each.of(left[place][0].content)]
            memories = [memory for memory in request.memories if each.of(memory.content)]
            if said:
                one, content = left[said[-1]][0], each.of(left[said[-1]][0].content) or ""
                right = replace(one, content=content, indices=(message.index,), quote=each.sentence)
                left[said[-1]] = right, Saying(content)
            elif len(memories) == 1:
                evidence = {"index": message.index, "quote": each.sentence}
                arguments: dict[str, object] = {"memory_id": memories[0].id, "correction": True, "evidence": evidence}
                arguments["content"] = each.of(memories[0].content)
                wishes.append(_Wish(UPDATE, arguments, message.index, message.content.find(each.sentence)))
            left = [
                (_shortened(one, each, before_it) if _is_of(one, message, each) else one, saying)
                for place, (one, saying) in enumerate(left)
                if place in said[-1:] or not _is_of(one, message, each) or not (said or len(memories) == 1)
            ]
    return left, wishes


def _moved(found: Sequence[MemoryCandidate], request: ToolRequest) -> tuple[list[MemoryCandidate], list[_Wish]]:
    """What was found, on the day that was told last, and the changes to memories that this means.

    What only tells of the other day is left out. What was said before in the same part is meant rather than a memory.
    """
    left, wishes = list(found), []
    for message in request.messages:
        moved = moved_in(own_words(message.content)) if message.role == "user" else None
        if moved is None:
            continue
        before = [one for one in left if one.indices[0] < message.index]
        said = moved.meant([one.content for one in before])
        meant = moved.meant([memory.content for memory in request.memories]) if said is None else None
        if said is None and meant is None:
            continue
        left = [one for one in left if one.indices[0] != message.index or not moved.covers(one.content)]
        if said is not None:
            old, content = before[said], moved.of(before[said].content) or ""
            left.remove(old)
            left.append(replace(old, content=content, indices=(message.index,), quote=moved.quote))
        elif meant is not None:
            memory = request.memories[meant]
            evidence = {"index": message.index, "quote": moved.quote}
            arguments: dict[str, object] = {"memory_id": memory.id, "explicit": True, "evidence": evidence}
            arguments["content"] = moved.of(memory.content)
            wishes.append(_Wish(UPDATE, arguments, message.index, message.content.find(moved.quote)))
    return left, wishes


def _is_of(candidate: MemoryCandidate, message: Utterance, correction: Correction) -> bool:
    """Whether a statement comes of the sentence that corrects."""
    return candidate.indices[0] == message.index and candidate.quote.rstrip(".! ") in correction.sentence


def _shortened(candidate: MemoryCandidate, correction: Correction, told: Sequence[str]) -> MemoryCandidate:
    """Without what it only denies, where that was told or is remembered."""
    if any(correction.denies(each) for each in told if each != candidate.content):
        return replace(candidate, content=correction.without(candidate.content))
    return candidate


def _second_round(request: ToolRequest, earlier: ToolRound) -> Iterator[tuple[str, dict[str, object]]]:
    """What becomes of each addition that ran into something known."""
    results = {result.call_id: result for result in earlier.results}
    memories = {memory.id: memory for memory in request.memories}
    changed = {call.arguments.get("memory_id") for call in earlier.calls}
    for call in earlier.calls:
        result = results.get(call.id)
        if call.name != ADD or result is None or result.ok:
            continue
        ids = {memories[code] for code in _NAMED_ID.findall(result.content) if code in memories}
        known, new = ids.pop() if len(ids) == 1 else None, str(call.arguments["content"])
        if known is None or known.id in changed or compare(known.content, new) == "same":
            continue
        content = in_one_sentence((known.content, new))
        if content is not None:
            changed.add(known.id)
            rest = {name: call.arguments[name] for name in ("explicit", "evidence") if name in call.arguments}
            yield UPDATE, {"memory_id": known.id, "content": content, **rest}
        elif _may_insist(request):
            yield ADD, {**call.arguments, "insist": True}


def _may_insist(request: ToolRequest) -> bool:
    schema = next((tool.input_schema for tool in request.tools if tool.name == ADD), {})
    properties = schema.get("properties")
    return isinstance(properties, Mapping) and "insist" in properties


def _latest(candidates: Sequence[MemoryCandidate], contents: Mapping[int, str]) -> list[tuple[MemoryCandidate, Saying]]:
    """Leave out what the person said otherwise later on, or said before in other words."""
    kept: list[tuple[MemoryCandidate, Saying]] = []
    for new in sorted(candidates, key=lambda one: one.indices[-1]):
        saying = Saying(new.content, contents[new.indices[0]])
        verdicts = [(old, said, compare(said, saying)) for old, said in kept]
        if any(verdict == "same" for *_, verdict in verdicts):
            continue
        same_field = [old for old, *_ in verdicts if new.field in _SINGLE_VALUED and new.field == old.field]
        kept = [(old, said) for old, said, verdict in verdicts if verdict not in _AT_ODDS and old not in same_field]
        kept.append((new, saying))
    return kept


def _outdated(
    candidate: MemoryCandidate, saying: Saying, known: Sequence[tuple[KnownMemory, Saying]]
) -> tuple[KnownMemory | None, bool]:
    """The memory that holds no longer with what was said now, if there is one, and whether it is known already."""
    over = []
    for memory, said in known:
        verdict = compare(said, saying)
        same_field = candidate.field in _SINGLE_VALUED and memory.field == candidate.field
        if verdict == "same":
            return None, True
        if verdict in _AT_ODDS or same_field:
            over.append(memory)
    return max(over, key=lambda memory: memory.date, default=None), False


def _denial_beside(
    candidate: MemoryCandidate, saying: Saying, found: Sequence[tuple[MemoryCandidate, Saying]]
) -> Saying:
    """What the same message says is no longer so in the same words, and this is instead; else the statement itself."""
    claims = {(claim.who, claim.verbs) for claim in saying.claims or () if not saying.only_denies}
    beside = (
        other
        for one, other in found
        if one.indices[0] == candidate.indices[0] and other.only_denies
        if not claims.isdisjoint((claim.who, claim.verbs) for claim in other.claims or ())
    )
    return next(beside, saying)


def _deletions(request: ToolRequest, reading: Reading, known: Sequence[tuple[KnownMemory, Saying]]) -> Iterator[_Wish]:
    """Of what the person asks not to keep: what they name, and what says the same as the words that they point to."""
    turns = [Turn(message.role, own_words(message.content)) for message in request.messages]
    refused = [Saying(each.content) for each in reading.refused]
    for position, message in enumerate(request.messages):
        if message.role != "user" or not may_refuse(message.content) or steers(message.content):
            continue
        refusal = hear(turns, position)
        if refusal is None or _points_over_a_gap(request, refusal, message.index):
            continue
        told = [(memory.content, memory.subject) for memory, _ in known]
        places = named(refusal.named, told, whole=refusal.whole, denied=refusal.denied)
        meant = [known[place] for place in places]
        meant += [each for each in known if {each[0].field.removeprefix("preferred_")} == refusal.named]
        meant += [each for each in known if any(compare(each[1], said) == "same" for said in refused)]
        for memory, _ in meant:
            evidence = {"index": message.index, "quote": message.content.strip()}
            yield _Wish(DELETE, {"memory_id": memory.id, "explicit": True, "evidence": evidence}, message.index, 0)


def _points_over_a_gap(request: ToolRequest, refusal: Refusal, index: int) -> bool:
    """Whether what a no points to is withheld already and not shown: what stands before that is not meant."""
    if refusal.named or not refusal.passages:
        return False
    there = {message.index for message in request.messages}
    first = min(request.messages[position].index for position, _ in refusal.passages)
    return any(between not in there for between in range(first + 1, index))


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
