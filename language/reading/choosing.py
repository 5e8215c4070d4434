"""Choose the memory tool calls for what the user said, without a language model.

The first round adds, updates and deletes. The second repeats additions that were rejected because of a known memory,
with ``insist``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from language.base import ExtractionRequest, KnownMemory, MemoryCandidate, ToolCall, ToolRequest, ToolRound, Utterance

from .candidates import EXPLICIT_IMPORTANCE, memory_candidates
from .compare import Saying, compare, denies_in_words, parse_pairs
from .correcting import (
    ADD,
    DELETE,
    DOUBT,
    UPDATE,
    PlannedCall,
    apply_corrections,
    apply_rescheduling,
    apply_second_tries,
    change_of,
    evidence_of,
    was_agreed_to,
    without_disputed,
)
from .figures import MONTHS, THOUSANDS
from .filters import is_prompt_injection
from .kinds import is_health_to_guard
from .lexicon import is_kind_of, is_word
from .outdated import all_outdated
from .questions import is_of_the_talk
from .refusals import Refusal, find_named, says_undo
from .revising import in_third_person, with_rest
from .sentences import own_words
from .statements import BatchReading, read
from .stems import content_prefixes
from .values import new_wording
from .words import KIN

_NAME_WISH = re.compile(r"\b(?:call\w*|names?|nicknam\w+|goes by|known as|prefers?|address\w*)\b", re.IGNORECASE)
_SINGLE_VALUED = frozenset({"preferred_name", "pronouns", "city", "language", "tone"})
_NAMED_ID = re.compile(r"\[id:([A-Za-z0-9]{8})\]")
_OF_ONESELF = re.compile(r"\b(?:I|me|my|mine)\b", re.IGNORECASE)
_OWN = r"(?:(?:first|last|second|middle|full|real|given|family|maiden|new|old|preferred|legal) )?"
_TELLS_OWN_NAME = re.compile(rf"The user(?:['’]s {_OWN}name is| goes by| is(?: called| named)?) [A-Z]")
_NAMES_ANOTHER = re.compile(
    rf"\b(?:his|hers?|its|their|(?!my\b)\w+['’]s|my (?!{_OWN}name\b)[\w'’-]+) {_OWN}name\b"
    r"|\b(?:he|she|it)(?:['’]s| is) (?:really |actually )?(?:called|named)\b",
    re.IGNORECASE,
)
_NAMES_ONESELF = re.compile(
    rf"\bmy {_OWN}name\b|\bcall(?:s|ed|ing)? me\b|\bI(?: do(?: not|n['’]t))? (?:go|went) by\b"
    r"|\bI(?:['’]m| am) (?:(?:called|named|not|no longer) )*(?-i:[A-Z])",
    re.IGNORECASE,
)
_BEGINS_WITH_ONESELF = re.compile(r"\W*(?:\w+, )?(?:I|my)\b", re.IGNORECASE)
_OF_TIME_OR_NEWS = re.compile(
    r".*\b(?:\w*day|week|weekend|month|year|mornings?|afternoons?|evenings?|nights?|tonight|tomorrow|now|spring|summer"
    rf"|autumn|winter|{'|'.join(MONTHS)}|(?:19|20)\d\d|news|updates?|changes?|decision"
    r"|over|done|finished|sorted|found|sold|passed)$",
    re.IGNORECASE,
)
"""A title of what one tells oneself: "Next week", "Job news", "Search over"; "Gym reception" may be who says it."""
_NEARLY = re.compile(r"\b(?:nearly|almost) \w+ed\b", re.IGNORECASE)
_INCOMPATIBLE = frozenset({"replaces", "contradicts"})
_Repeated = tuple[int, str]
"""The index of a message, and the id of a memory that it says again."""


def choose(request: ToolRequest) -> tuple[ToolCall, ...]:
    """The calls of the next round; empty if nothing is left to do."""
    if not request.rounds:
        wishes = [(wish.name, wish.arguments) for wish in _first_round(request)]
    elif len(request.rounds) == 1:
        wishes = list(_second_round(request, request.rounds[0]))
    else:
        return ()
    offered = {tool.name for tool in request.tools}
    possible = [(name, arguments) for name, arguments in wishes if name in offered]
    # Of too many the most important, in their order. Changes of memories have no importance of their own.
    ranks = [-int(str(arguments.get("importance", EXPLICIT_IMPORTANCE))) for _, arguments in possible]
    taken = sorted(sorted(range(len(possible)), key=ranks.__getitem__)[: request.calls_left])
    return tuple(
        ToolCall(f"call_{len(request.rounds) + 1}_{number}", *possible[place])
        for number, place in enumerate(taken, start=1)
    )


def _first_round(request: ToolRequest) -> list[PlannedCall]:
    """The calls of the first round, in the order of their sources; an addition last, or an old memory is in its way."""
    told = [memory.content for memory in request.memories]
    about, kinds = request.legacy_name, request.memory_categories
    batch = ExtractionRequest(request.messages, request.user_name, about, (), kinds, told)
    reading, contents = read(batch), {message.index: message.content for message in request.messages}
    wishes: list[PlannedCall] = []
    changed: set[object] = set()
    repeated: set[_Repeated] = set()
    known = [(memory, Saying(in_third_person(memory.content))) for memory in request.memories]
    found, moved = apply_rescheduling(memory_candidates(reading, batch), request)
    latest, put_right = apply_corrections(_latest(found, contents, request.messages), request)
    latest, meant = apply_second_tries(latest, request, known)
    latest = without_disputed(latest, request)
    parse_pairs((saying, said) for _, saying in latest for _, said in known)
    for wish in (*put_right, *moved, *meant):
        changed.add(wish.arguments["memory_id"])
        wishes.append(wish)
    # Positive statements first: "I'm no nurse any more, I'm a midwife."
    for candidate, saying in sorted(latest, key=lambda each: each[1].only_denies):
        outdated, said_again = _outdated(candidate, saying, known)
        repeated |= {(index, memory.id) for memory in said_again for index in candidate.indices}
        if outdated is not None and outdated.field == "preferred_name" and not _NAME_WISH.search(candidate.content):
            continue  # "I'm Maria" does not change a preferred name.
        by = saying if said_again else _negation_in_message(candidate, saying, latest)
        if by is not saying:
            outdated = _outdated(candidate, by, known)[0] or outdated
        index, at = candidate.indices[0], contents[candidate.indices[0]].find(candidate.quote)
        if outdated is not None and outdated.id not in changed:
            changed.add(outdated.id)
            # "No longer Dr Huber, it is Dr Weiss" names what is true instead.
            wording = new_wording(outdated.content, contents[index]) if by.only_denies else None
            instead = wording.content if wording is not None and wording.contrasts else None
            content = instead or with_rest(outdated.content, candidate.content, by)
            # The person's own profile fields need no review.
            explicit = candidate.explicit or outdated.field in _SINGLE_VALUED
            change = change_of(outdated.id, replace(candidate, content=content, explicit=explicit))
            wishes.append(PlannedCall(UPDATE, change, index, at))
        elif outdated is not None and saying.only_denies:
            continue
        elif not said_again:
            wishes.append(PlannedCall(ADD, _addition(candidate), index, at))
    for wish in _deletions(request, reading, known):
        if wish.arguments["memory_id"] not in changed:
            changed.add(wish.arguments["memory_id"])
            wishes.append(wish)
    reworded = list(_outdated_by_meaning(request, reading, wishes, repeated))
    wishes = [wish for wish in wishes if not any(_says_no_more(wish, other) for other in reworded)] + reworded
    told_names = {memory.id for memory in request.memories if _TELLS_OWN_NAME.match(in_third_person(memory.content))}
    wishes = [wish for wish in wishes if wish.arguments.get("memory_id") not in told_names or not _is_of_another(wish)]
    return sorted(wishes, key=lambda wish: (wish.index, wish.at, wish.name == ADD))


def _second_round(request: ToolRequest, earlier: ToolRound) -> Iterator[tuple[str, dict[str, object]]]:
    """The calls that follow each rejected addition."""
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
        if _may_insist(request):
            yield ADD, {**call.arguments, "insist": True}


def _may_insist(request: ToolRequest) -> bool:
    schema = next((tool.input_schema for tool in request.tools if tool.name == ADD), {})
    properties = schema.get("properties")
    return isinstance(properties, Mapping) and "insist" in properties


def _latest(
    candidates: Sequence[MemoryCandidate], contents: Mapping[int, str], messages: Sequence[Utterance]
) -> list[tuple[MemoryCandidate, Saying]]:
    """Drop candidates that a later one repeats, replaces or contradicts; it corrects one that was agreed to."""
    kept: list[tuple[MemoryCandidate, Saying]] = []
    sayings = [(one, Saying(one.content, contents[one.indices[0]])) for one in candidates]
    parse_pairs(combinations((saying for _, saying in sayings), 2))
    for new, saying in sorted(sayings, key=lambda each: each[0].indices[-1]):
        verdicts = [(old, said, compare(said, saying)) for old, said in kept]
        if any(verdict == "same" for *_, verdict in verdicts):
            continue
        if any(verdict in _INCOMPATIBLE and was_agreed_to(old, messages) for old, _, verdict in verdicts):
            new = replace(new, explicit=True)  # noqa: PLW2901 - it stays the latest
        same_field = [old for old, *_ in verdicts if new.field in _SINGLE_VALUED and new.field == old.field]
        kept = [
            (old, said) for old, said, verdict in verdicts if verdict not in _INCOMPATIBLE and old not in same_field
        ]
        kept.append((new, saying))
    return kept


def _outdated(
    candidate: MemoryCandidate, saying: Saying, known: Sequence[tuple[KnownMemory, Saying]]
) -> tuple[KnownMemory | None, Sequence[KnownMemory]]:
    """The newest memory that the statement outdates, if any, or the one that says the same."""
    over = []
    for memory, said in known:
        verdict = compare(said, saying)
        same_field = candidate.field in _SINGLE_VALUED and memory.field == candidate.field
        if verdict == "same":
            return None, (memory,)
        if _NEARLY.search(candidate.content):
            continue  # "I nearly cancelled it."
        if verdict in _INCOMPATIBLE or same_field or denies_in_words(candidate.content, memory.content):
            over.append(memory)
    return max(over, key=lambda memory: memory.date, default=None), ()


def _outdated_by_meaning(
    request: ToolRequest, reading: BatchReading, wishes: Sequence[PlannedCall], repeated: Collection[_Repeated]
) -> Iterator[PlannedCall]:
    """Yield updates of memories that a message makes outdated in words that the grammar can't compare.

    If it is unsure or no correct wording can be made, the person is asked whether the memory still holds; so for
    health to guard, always. None for what a message says again (``repeated``), and in conversations about a legacy,
    which are mostly about somebody else and the past.
    """
    changed = {wish.arguments.get("memory_id") for wish in wishes}
    told = {wish.index for wish in wishes if wish.name != ADD}
    for message in request.messages if request.legacy_name is None else ():
        if message.role != "user" or message.index in told or reading.withheld(message.index):
            continue
        if says_undo(message.content) or is_of_the_talk(message.content):
            continue  # It is said to the assistant, and tells nothing of the person.
        left = [
            each for each in request.memories if each.id not in changed and (message.index, each.id) not in repeated
        ]
        contents = [in_third_person(memory.content) for memory in left]
        stored = [each.vector if each.content == now else None for each, now in zip(left, contents, strict=True)]
        said = THOUSANDS.sub(",", message.content)
        for found in () if is_prompt_injection(said) else all_outdated(_own_note(said), contents, stored):
            memory, at = left[found.place], said.find(found.quote)
            if at < 0 or memory.id in changed:
                continue
            changed.add(memory.id)
            evidence = {"index": message.index, "quote": message.content[at : at + len(found.quote)]}
            arguments: dict[str, object] = {"memory_id": memory.id, "evidence": evidence}
            rewords = found.content is not None and (found.stated or not is_health_to_guard(memory.content))
            if rewords:
                arguments["content"] = found.content
            yield PlannedCall(UPDATE if rewords else DOUBT, arguments, message.index, at)


def _is_of_another(wish: PlannedCall) -> bool:
    """Whether a change comes from words that tell another's name, and not the person's: "his name is Rex, not Max"."""
    evidence = wish.arguments.get("evidence")
    said = str(evidence.get("quote", "")) if isinstance(evidence, Mapping) and wish.name != DELETE else ""
    return _NAMES_ANOTHER.search(said) is not None and _NAMES_ONESELF.search(said) is None


def _says_no_more(wish: PlannedCall, reworded: PlannedCall) -> bool:
    """Whether an addition of a message has no word that the memory which the message rewords lacks."""
    content = str(reworded.arguments.get("content", ""))
    words = content_prefixes(str(wish.arguments.get("content", ""))) - {"user"}
    return wish.name == ADD and wish.index == reworded.index and words <= content_prefixes(content)


def _own_note(content: str) -> str:
    """Return the person's own words, with a line that only looks like another speaker's: "Gym: twice a week now"."""
    words = own_words(content)
    label, _, said = content.partition(":")
    names = label.lower().split()
    is_title = len(names) > 1 and not any(name in KIN or is_kind_of(name, "person") for name in names)
    is_title = is_title and (_OF_TIME_OR_NEWS.match(label) is not None or not _BEGINS_WITH_ONESELF.match(said))
    is_note = not words.strip() and "\n" not in content.strip() and (is_title or not _OF_ONESELF.search(said))
    return content if is_note and (label.islower() or all(map(is_word, names))) else words


def _negation_in_message(
    candidate: MemoryCandidate, saying: Saying, found: Sequence[tuple[MemoryCandidate, Saying]]
) -> Saying:
    """The negated statement of the same message that this one replaces; otherwise the statement itself."""
    near = [other for one, other in found if one.indices[0] == candidate.indices[0] and other.only_denies]
    claims = {(claim.subject, claim.verbs) for claim in saying.claims or ()} if near and not saying.only_denies else ()
    beside = (each for each in near if any((claim.subject, claim.verbs) in claims for claim in each.claims or ()))
    return next(beside, saying)


def _deletions(
    request: ToolRequest, reading: BatchReading, known: Sequence[tuple[KnownMemory, Saying]]
) -> Iterator[PlannedCall]:
    """Deletions for refusals: the memories they name, and those equal to the refused passages."""
    refused = [Saying(each.content) for each in reading.refused]
    for position, refusal in reading.refusals.items():
        message = request.messages[position]
        if is_prompt_injection(message.content) or _points_over_a_gap(request, refusal, message.index):
            continue
        told = [(memory.content, memory.subject) for memory, _ in known]
        places = find_named(refusal.named_lemmas, told, whole=refusal.covers_all, denied=refusal.is_negated)
        meant = [known[place] for place in places]
        meant += [each for each in known if {each[0].field.removeprefix("preferred_")} == refusal.named_lemmas]
        meant += [each for each in known if any(compare(each[1], said) == "same" for said in refused)]
        for memory, _ in meant:
            evidence = {"index": message.index, "quote": message.content.strip()}
            yield PlannedCall(
                DELETE, {"memory_id": memory.id, "explicit": True, "evidence": evidence}, message.index, 0
            )


def _points_over_a_gap(request: ToolRequest, refusal: Refusal, index: int) -> bool:
    """Whether a refusal refers across a withheld message, so that its antecedent is uncertain."""
    if refusal.named_lemmas or not refusal.passages:
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
        "evidence": evidence_of(candidate),
    }
