"""What corrections in the user's messages make of what they said before, and of memories, without a language model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from language.base import KnownMemory, ToolRequest, Utterance
from language.second_person import second_person

from .candidates import MemoryCandidate
from .compare import Saying, compare
from .corrections import Correction, corrections_in
from .kinds import subject_after
from .refusals import answers_an_offer, begins_with_yes, lemmas, says_only, says_yes
from .revising import find_rescheduling
from .second_tries import MESSAGES_BEFORE, SecondTry, answers_a_question, second_try
from .sentences import own_words

ADD, UPDATE, DELETE, DOUBT = "add_to_memory", "update_memory", "delete_memory", "doubt_memory"


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A planned call, with the message ``index`` and character offset ``at`` of its source."""

    name: str
    arguments: dict[str, object]
    index: int
    at: int


def apply_corrections(
    found: Sequence[tuple[MemoryCandidate, Saying]], request: ToolRequest
) -> tuple[list[tuple[MemoryCandidate, Saying]], list[PlannedCall]]:
    """Apply the message's corrections: return the corrected candidates, and updates of corrected memories.

    An earlier statement of the same part is preferred to a memory, unless it is remembered; a memory is corrected only
    if it is the only match.
    """
    left, wishes = list(found), []
    for message in request.messages:
        for each in corrections_in(own_words(message.content)) if message.role == "user" else ():
            before = [place for place, (one, _) in enumerate(left) if one.indices[0] < message.index]
            said = [place for place in before if each.apply_to(left[place][0].content)]
            memories = [memory for memory in request.memories if each.apply_to(memory.content)]
            if said and [left[said[-1]][0].content] == [memory.content for memory in memories]:
                del left[said.pop()]  # It is remembered already, and the correction takes its place.
                said = []
            if said:
                one, content = left[said[-1]][0], each.apply_to(left[said[-1]][0].content) or ""
                right = _put_right(request, one, content, message.index, each.sentence)
                left[said[-1]] = right, Saying(content)
            elif len(memories) == 1:
                evidence = {"index": message.index, "quote": each.sentence}
                arguments: dict[str, object] = {"memory_id": memories[0].id, "correction": True, "evidence": evidence}
                arguments["content"] = each.apply_to(memories[0].content)
                wishes.append(PlannedCall(UPDATE, arguments, message.index, message.content.find(each.sentence)))
            left = [
                (one, saying)
                for place, (one, saying) in enumerate(left)
                if place in said[-1:] or not _is_of(one, message, each) or not (said or len(memories) == 1)
            ]
    return left, wishes


def apply_rescheduling(
    found: Sequence[MemoryCandidate], request: ToolRequest
) -> tuple[list[MemoryCandidate], list[PlannedCall]]:
    """Apply rescheduling ("moved to Friday"): return the rescheduled candidates, and updates of memories.

    Statements about the old date are left out. An earlier statement of the same part is preferred to a memory.
    """
    left, wishes = list(found), []
    for message in request.messages:
        moved = find_rescheduling(own_words(message.content)) if message.role == "user" else None
        if moved is None:
            continue
        before = [one for one in left if one.indices[0] < message.index]
        said = moved.best_match([one.content for one in before])
        meant = moved.best_match([memory.content for memory in request.memories]) if said is None else None
        if said is None and meant is None:
            continue
        left = [one for one in left if one.indices[0] != message.index or not moved.only_names_day(one.content)]
        if said is not None:
            old, content = before[said], moved.apply_to(before[said].content) or ""
            left.remove(old)
            left.append(replace(old, content=content, indices=(message.index,), quote=moved.quote))
        elif meant is not None:
            memory = request.memories[meant]
            evidence = {"index": message.index, "quote": moved.quote}
            arguments: dict[str, object] = {"memory_id": memory.id, "explicit": True, "evidence": evidence}
            arguments["content"] = moved.apply_to(memory.content)
            wishes.append(PlannedCall(UPDATE, arguments, message.index, message.content.find(moved.quote)))
    return left, wishes


def apply_second_tries(
    found: Sequence[tuple[MemoryCandidate, Saying]],
    request: ToolRequest,
    known: Sequence[tuple[KnownMemory, Saying]],
) -> tuple[list[tuple[MemoryCandidate, Saying]], list[PlannedCall]]:
    """Apply corrections that name only the new value to what the person said just before.

    Returns the corrected candidates, and updates of memories that say what was corrected.
    """
    left, wishes, theirs = list(found), [], [message for message in request.messages if message.role == "user"]
    for at, message in enumerate(theirs):
        tried = second_try(own_words(message.content))
        is_offered = answers_an_offer(request.messages, message.index)
        if tried is None or (tried.denies and not is_offered and answers_a_question(request.messages, message)):
            continue
        for index in reversed([each.index for each in theirs[max(0, at - MESSAGES_BEFORE) : at]]):
            near = [place for place, (one, _) in enumerate(left) if one.indices[-1] == index]
            said = [(place, tried.apply_to(left[place][0].content)) for place in near]
            meant = [(place, content) for place, content in said if content]
            if len(meant) != 1:
                if meant:
                    break
                continue
            (place, content), saying = meant[0], left[meant[0][0]][1]
            one = left[place][0]
            right = _put_right(request, one, content, message.index, message.content.strip())
            memory = next((each for each, said_so in known if compare(said_so, saying) == "same"), None)
            if memory is None:
                left[place] = right, Saying(content)
            else:
                del left[place]
                change = {**change_of(memory.id, right), "correction": True}
                wishes.append(PlannedCall(UPDATE, change, message.index, 0))
            left = [each for each in left if each[0].indices != (message.index,) or each[0] is right]
            break
        else:
            if (update := _of_last_told(request, message, tried)) is not None:
                wishes.append(update)
                left = [each for each in left if each[0].indices != (message.index,)]
    return left, wishes


def without_disputed(
    found: Sequence[tuple[MemoryCandidate, Saying]], request: ToolRequest
) -> list[tuple[MemoryCandidate, Saying]]:
    """Drop what a yes contradicts in words that were not read: "yes, but I don't mind opera really"."""
    left = list(found)
    for message in request.messages:
        said = own_words(message.content)
        is_answer = message.role == "user" and begins_with_yes(said) and not says_yes(said)
        read = any(message.index in one.indices for one, _ in left)
        if not is_answer or read or says_only(said) or not answers_an_offer(request.messages, message.index):
            continue
        shared = [len(lemmas(said) & lemmas(one.content)) for one, _ in left]
        most = max(shared, default=0)
        left = [each for each, count in zip(left, shared, strict=True) if not most or count < most]
    return left


def _of_last_told(request: ToolRequest, message: Utterance, tried: SecondTry) -> PlannedCall | None:
    """An update of the one memory that the assistant told just before and the message corrects; None without one."""
    before = [each.content for each in request.messages if each.index < message.index and each.role != "user"][-1:]
    told = [each for each in request.memories if any(second_person(each.content) in answer for answer in before)]
    right = [(each.id, content) for each in told if (content := tried.apply_to(each.content))]
    if len(right) != 1:
        return None
    evidence = {"index": message.index, "quote": message.content.strip()}
    arguments: dict[str, object] = {"memory_id": right[0][0], "content": right[0][1], "correction": True}
    return PlannedCall(UPDATE, {**arguments, "evidence": evidence}, message.index, 0)


def _put_right(request: ToolRequest, one: MemoryCandidate, content: str, index: int, quote: str) -> MemoryCandidate:
    """A candidate as a message says it now; where the person was asked whether to keep it, they agree to it so."""
    subject = subject_after(one.subject, one.content, content)
    explicit = one.explicit or answers_an_offer(request.messages, index)
    return replace(one, content=content, subject=subject, explicit=explicit, indices=(index,), quote=quote)


def _is_of(candidate: MemoryCandidate, message: Utterance, correction: Correction) -> bool:
    """Whether a candidate comes from the correcting sentence."""
    return candidate.indices[0] == message.index and candidate.quote.rstrip(".! ") in correction.sentence


def was_agreed_to(candidate: MemoryCandidate, messages: Sequence[Utterance]) -> bool:
    """Whether the person, asked whether it may be kept, said yes right after they told it."""
    later = (each for each in messages if each.role == "user" and each.index > candidate.indices[-1])
    answer = next(later, None)
    return answer is not None and says_yes(answer.content) and answers_an_offer(messages, answer.index)


def change_of(memory_id: str, candidate: MemoryCandidate) -> dict[str, object]:
    """The arguments of the call that rewords a memory as a candidate."""
    explicit: dict[str, object] = {"explicit": True} if candidate.explicit else {}
    return {"memory_id": memory_id, "content": candidate.content, **explicit, "evidence": evidence_of(candidate)}


def evidence_of(candidate: MemoryCandidate) -> dict[str, object]:
    """The message and words that a candidate comes from, as calls have them."""
    return {"index": candidate.indices[0], "quote": candidate.quote}
