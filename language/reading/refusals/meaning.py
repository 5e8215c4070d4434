"""What a refusal refers to: sentences of this message or earlier ones, and words that name known memories.

Patterns find the request first, so that ordinary messages are not parsed. Only then is the message parsed, to find
other content beside the request, who makes it, and the words that name what is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

from language.reading.questions import is_question
from language.reading.sentences import Sentence, split_sentences

from ..foreign import is_mostly_foreign
from ..parse import parse
from ..stock import updates
from .answers import LEAST_THAT_DECLINES, SURELY_KEEPS, score
from .content import (
    announces,
    has_other_content,
    is_comment,
    is_fragment,
    is_of_answer,
    is_order,
    may_point,
    means_all,
    means_part,
    object_to_forget,
    refers_back,
    stands_alone,
    with_antecedents,
)
from .corrected import corrects_asked
from .judged import refuses
from .naming import DENIES
from .offers import asks_for_objections, asks_to_keep, objects
from .parts import asked_beside_changes, asked_statements, choose, listed_beside, passages_about, told_beside_only
from .questions import (
    MOST_READ,
    answers_another,
    asking_sentences,
    asks_last,
    asks_or_announces,
    changes_topic,
    is_of_record,
    leaves_open,
    lets_keep,
    offers_else,
    only_announces,
    only_asks,
)
from .records import Refusal, Turn
from .requests import (
    NAMED_AFTER,
    SAYS_THIS,
    RefusalRequest,
    acts_in,
    asked_by_person,
    judged_acts,
    named_before,
    names_what_was_said,
    says_undo,
)
from .subjects import SentenceWords, content_words, lemmas, shares_of
from .wording import after_opening_no, allows_keeping, begins_with_yes, is_clear_no, opens_with_no, says_no, says_yes

MOST_LOOKED_AT = 200
"""The number of latest sentences that are searched for what a refusal names."""
_LEAST_NAMED = 0.5
_NEAR_THE_BEST = 0.8


def find_refusal(turns: Sequence[Turn], last: int) -> Refusal | None:
    """Find what the turn at position ``last`` refuses to have kept; None if nothing, or if the next takes it back."""
    text = turns[last].content
    after = next((turn.content for turn in turns[last + 1 :] if turn.role == "user"), "")
    if says_undo(after):
        return None
    resolver = _RefusalResolver(turns, last)
    if says_undo(text) or (part := resolver.resolve_part()) is not None:
        return resolver.resolve_undo() if says_undo(text) else part
    if told := told_beside_only([each.text for each in resolver.sentences]):
        return Refusal(tuple((last, each) for each in told), is_part=True)
    asked = list(asked_by_person(text, acts_in))
    meant = [act for act in asked if not resolver.is_of_answer(act)]
    refusals = [each for act in meant if (each := resolver.resolve(act)) is not None]
    if not any(each.passages or each.named_lemmas for each in refusals) and len(meant) == len(asked):
        learned = [] if resolver.is_agreed() else asked_by_person(text, judged_acts)
        learned = [act for act in learned if not (resolver.is_of_answer(act) or resolver.is_unrelated(act))]
        refusals += [each for act in learned if (each := resolver.resolve(act)) is not None]
    if refusals:
        is_negated = refusals[0].is_negated if len(refusals) == 1 else None
        refusals += resolver.resolve_question_passed_over(refusals)
        passages = [passage for each in refusals for passage in each.passages]
        named_lemmas = frozenset().union(*(each.named_lemmas for each in refusals))
        answers_question = any(each.answers_question for each in refusals)
        covers_all = any(each.covers_all for each in refusals)
        found: Refusal | None = Refusal(tuple(passages), named_lemmas, covers_all, is_negated, answers_question)
    else:
        found = resolver.resolve_plain_no()
    if found is None:
        return None
    return replace(found, passages=tuple(dict.fromkeys([*found.passages, *resolver.asked_about(found)])))


# --- What is referred to ----------------------------------------------------------------------------------------


class _RefusalResolver:
    """Resolves what a refusal refers to among the turns up to it."""

    def __init__(self, turns: Sequence[Turn], last: int) -> None:
        self.turns, self.last_index = turns, last
        self.sentences = list(split_sentences(turns[last].content))

    def is_agreed(self) -> bool:
        """Whether the message lets the assistant keep what it asked about, maybe in the words of a no."""
        question, said = self.question, self.turns[self.last_index].content
        if question is None:
            return allows_keeping(said)
        if lets_keep(question, said):
            return True
        if asks_for_objections(question):
            return not objects(said, question)
        return self._score is not None and self._score < SURELY_KEEPS and not after_opening_no(said)

    def resolve_undo(self) -> Refusal | None:
        """What the assistant has asked or announced to keep; None if it changed a memory since, which is undone."""
        near = self._latest_told() if self.question is None else []
        if near and self.turns[near[0][0]].is_held and only_asks(self.turns[near[0][0] + 1 : self.last_index]):
            return Refusal(tuple(near), answers_question=True)
        return None if self.question is None or updates(self.question) else self._resolve_question(self.question)

    def resolve_part(self) -> Refusal | None:
        """What an answer refuses of several statements asked about; None if none or all of them."""
        question = self.question
        said = self.turns[self.last_index].content
        choice, near = choose(question, said) if question else None, self._latest_told() if question else []
        if not near or question is None:
            return None
        if choice is None:
            beside = listed_beside(question, said, [text for _, text in near])
            return self._refused_part(near[0][0], beside, (), agreed=True) if beside else None
        asked = asked_statements(question)
        opens = [each for each in asked if each not in {*choice.kept, *choice.refused}]
        going = passages_about([text for _, text in near], choice.kept, choice.refused, opens=opens)
        kept = frozenset().union(*map(lemmas, choice.kept))
        if going is None or (len(asked) < 2 and any(kept <= lemmas(each) for each in going)):
            return None
        place = near[0][0]
        return self._refused_part(place, going, choice.naming, agreed=bool(choice.kept))

    def _refused_part(self, place: int, going: Sequence[str], own: Sequence[str], *, agreed: bool) -> Refusal:
        asking = ((self.last_index - 1, each) for each in asking_sentences(self.question or "", announced=False))
        rest = place if agreed and self.turns[place].is_held else None
        passages = [*((place, each) for each in going), *((self.last_index, each) for each in own), *asking]
        return Refusal(tuple(passages), answers_question=True, is_part=True, agreed=rest)

    def is_of_answer(self, act: RefusalRequest) -> bool:
        """Whether a request names a thing that the assistant's last message said, and the person never."""
        before = self.turns[self.last_index - 1] if self.last_index else None
        text = self.turns[self.last_index].content[act.start : act.end]
        bare = object_to_forget(text) if act.is_learned else frozenset(act.named_text.lower().split())
        named = lemmas(act.named_text) or bare
        answer = before.content if before is not None and before.role == "assistant" else ""
        is_no = act.is_learned or opens_with_no(self.turns[self.last_index].content[: act.start])
        if is_no and not named and offers_else(answer) and not is_of_record(text):
            return act.start < self.sentences[0].end
        own = [turn.content for turn in self.turns[: self.last_index] if turn.role == "user"]
        return _OF_SPEAKER.search(act.named_text) is None and is_of_answer(named, own, answer)

    def is_unrelated(self, act: RefusalRequest) -> bool:
        """Whether a judged request, in English, neither points nor repeats what was said: "abort build"."""
        text = self.turns[self.last_index].content[act.start : act.end]
        parsed = parse(text)
        if not parsed or not parsed.root or not is_order(parsed, parsed.root) or is_mostly_foreign(text):
            return False
        inside = [each for each in self.sentences if each.start < act.end and act.start < each.end]
        before = [each for each in self.sentences if inside and each.end <= inside[0].start]
        return not any(may_point(each.text) for each in inside) and self._resolve_by_words(act, before) is None

    def resolve(self, act: RefusalRequest) -> Refusal | None:
        """What a request refers to. Its own sentence is included where it names the content."""
        inside = [each for each in self.sentences if each.start < act.end and act.start < each.end]
        before = [each for each in self.sentences if inside and each.end <= inside[0].start]
        after = [each for each in self.sentences if inside and each.start >= inside[-1].end]
        told = [each for each in inside if has_other_content(self.turns[self.last_index].content, each, act)]
        if act.is_learned and not told and inside:
            that = NAMED_AFTER.search(self.turns[self.last_index].content, act.end, inside[-1].end)
            act = replace(act, start=inside[0].start, end=inside[-1].end, named_text=that["what"] if that else "")
        if named := act.named_text or named_before(self.turns[self.last_index].content[: act.start]):
            return self._resolve_named(replace(act, named_text=named), inside, before)
        if act.is_learned and not told and (spoken_of := self._resolve_learned(act, inside, before)) is not None:
            return spoken_of
        if act.refers_ahead:
            points_on = SAYS_THIS.search(self.turns[self.last_index].content[act.start : act.end]) is not None
            told = [*told, *(after if points_on or not told else ())]
        if told:
            return self._passages(told)
        own = [each for each in before if not is_comment(each.text)]
        if not own and after and any(announces(each.text) for each in inside):
            return self._passages([*inside, *after])
        if own:
            meant = [*(own if means_all(inside) else with_antecedents(own)), before[-1]]  # Even if it seems a comment.
            passages = [(self.last_index, each.text) for each in dict.fromkeys(meant)]
            if self.question is not None and refers_back(own[0].text):
                passages += self._previous_sentences()
            elif all(is_fragment(each.text) for each in own):
                passages += self._previous_sentences(last_only=not act.is_learned or means_part(inside))
            return Refusal(tuple(passages))
        previous = self._previous_sentences(last_only=act.refers_to_last or (act.is_learned and means_part(inside)))
        answered = max((at for at, turn in enumerate(self.turns[: self.last_index]) if turn.role == "user"), default=0)
        if self._agrees(answered) and any(stands_alone(each.text) for each in before):
            previous = []  # What was agreed stays: "Yes." "I will remember that." "I'm broke. Keep no trace of it."
        # What seems a mere comment may tell it, too: "My landlord doesn't know about the cat. Keep no trace of that."
        beside = [] if previous and act.refers_to_last else before
        is_alone = not previous and (act.is_learned or bool(self._latest_told()))
        here = self._passages([*beside, *([*inside, *after] if is_alone and not before else ())]).passages
        return Refusal((*previous, *here), answers_question=self.question is not None)

    def resolve_plain_no(self) -> Refusal | None:
        """What a plain no refers to: what the assistant wanted to keep; None without such a request."""
        question, said = self.question, self.turns[self.last_index].content
        if question is None or lets_keep(question, said):
            return None
        is_no = objects(said, question) if asks_for_objections(question) else self._declines(said, question)
        return self._resolve_question(question) if is_no else None

    def resolve_question_passed_over(self, refusals: Sequence[Refusal]) -> list[Refusal]:
        """What the assistant has just asked about, if the refusals name nothing else; they decline it too."""
        question, said = self.question, self.turns[self.last_index].content
        if question is None or (self._is_announced and not asks_to_keep(question)):
            return []
        asked = self._resolve_question(question)
        places = {place for place, _ in asked.passages}
        is_passed_over = places.isdisjoint(place for each in refusals for place, _ in each.passages)
        # "I don't want you to know that I drink" tells something new that is not to be kept.
        tells = all(each.is_negated is not None for each in refusals) and not names_what_was_said(said)
        allowed = begins_with_yes(said) or lets_keep(question, said) or asks_for_objections(question)
        named = [each.named_lemmas for each in refusals]
        words = lemmas(question[-MOST_READ:])
        is_other = all(named) and words.isdisjoint(frozenset().union(*named)) and not after_opening_no(said)
        return [asked] if is_passed_over and not (allowed or tells or (question and is_other)) else []

    def asked_about(self, refusal: Refusal) -> Iterator[tuple[int, str]]:
        """The sentences that asked or announced to keep what is refused, whatever words they share with it."""
        for place in {place for place, _ in refusal.passages if place < self.last_index}:
            refused = frozenset().union(*(lemmas(text) for at, text in refusal.passages if at == place))
            said = {each.text for each in split_sentences(self.turns[place].content)}
            stays = [lemmas(text) for text in said if (place, text) not in refusal.passages]
            for position in range(place + 1, self.last_index):
                if self.turns[position].role == "user" and not self._agrees(position):
                    break
                asked = asking_sentences(self.turns[position].content) if self.turns[position].role != "user" else ()
                for text, words in ((each, lemmas(each[-MOST_READ:])) for each in asked):
                    if all(len(words & each) <= len(words & refused) for each in stays):
                        yield position, text

    def _resolve_question(self, question: str) -> Refusal:
        """The sentences that the assistant's question is about."""
        near = self._latest_told()
        if not near:
            return Refusal((), answers_question=True)
        words = lemmas(question[-MOST_READ:])
        held = self.turns[near[0][0]].is_held
        since = [turn.content for turn in self.turns[near[0][0] : self.last_index] if turn.role != "user"]
        if (beside := asked_beside_changes(question, [text for _, text in near], since)) is not None:
            return replace(self._refused_part(near[0][0], beside, (), agreed=True), consents=False)
        chosen = [] if held else [passage for passage, share in shares_of(words, near).items() if share > 0]
        return Refusal(tuple(chosen or near), answers_question=True)

    def _declines(self, said: str, question: str) -> bool:
        """Whether an answer to the question whether to keep something is a no."""
        if answers_another(question, said) or corrects_asked(question, said):
            return False
        if begins_with_yes(said) and question.count("?") > 1:  # "Would you like a plan, too?" "Yes, but no plan."
            return False
        is_no = (says_no(said) and len(said.split()) < 3) or changes_topic(after_opening_no(said), question)
        if is_no and asks_to_keep(question) and asks_last(question):
            return True
        if self._is_announced and question.rstrip().endswith("?"):
            return False  # "Noted. Anything else?" "No, that's all."
        if self._score is not None and (self._score < LEAST_THAT_DECLINES or not self._is_announced):
            return self._score >= LEAST_THAT_DECLINES
        plainly = is_clear_no(said) or says_no(said) or (says_no(said, goes_on=True) and asks_last(question))
        return plainly or refuses(question, said)

    @property
    def _is_announced(self) -> bool:
        """Whether nothing was asked: the assistant said that it will keep something, so anything may come next."""
        told = next((turn for turn in reversed(self.turns[: self.last_index]) if turn.role == "user"), None)
        return bool(self.question) and only_announces(self.question or "") and not (told is not None and told.is_held)

    @cached_property
    def _score(self) -> float | None:
        """How far the message declines what the assistant asked; None if nothing was, or it is not judged."""
        return score(self.question, self.turns[self.last_index].content) if self.question else None

    @cached_property
    def question(self) -> str | None:
        """The assistant's message that asks or announces to keep something; empty if only a held message shows it."""
        previous = self.turns[self.last_index - 1] if self.last_index else None
        if previous is not None and previous.role == "assistant" and asks_or_announces(previous.content):
            return previous.content
        users = (turn for turn in reversed(self.turns[: self.last_index]) if turn.role == "user")
        before = next(users, None)
        return "" if before is not None and before.is_held else None

    def _previous_sentences(self, *, last_only: bool = False) -> list[tuple[int, str]]:
        """The sentences of the person's previous message that state something, or only the last of them."""
        near = self._latest_told()
        if near and self.turns[near[0][0]].is_held:
            return near
        told = [each for each in near if not is_question(each[1])]
        return told[-1:] if last_only else told

    def _latest_told(self) -> list[tuple[int, str]]:
        """The sentences of the last message that doesn't only agree; of a held one while its question is open."""
        earlier = self._sentences()
        for position in reversed(
            [place for place, turn in enumerate(self.turns[: self.last_index]) if turn.role == "user"]
        ):
            if self.turns[position].is_held:
                return [each for each in earlier if each[0] == position]
            if not leaves_open(self.turns[position].content):
                break
        latest = max((position for position, _ in earlier if not self._agrees(position)), default=None)
        return [each for each in earlier if each[0] == latest]

    def _agrees(self, position: int) -> bool:
        """Whether a message is a plain yes to the question whether to keep something."""
        asked = self.turns[position - 1] if position else None
        is_asked = asked is not None and asked.role == "assistant" and asks_to_keep(asked.content)
        return is_asked and says_yes(self.turns[position].content)

    def _resolve_named(
        self, act: RefusalRequest, inside: Sequence[Sentence], before: Sequence[Sentence]
    ) -> Refusal | None:
        parsed = parse(act.named_text)
        words = frozenset(content_words(parsed.words)) if parsed is not None else frozenset()
        if not words:
            own = [(self.last_index, each.text) for each in inside]
            return Refusal((*own, *self._previous_sentences()))
        earlier = self._sentences(before)
        shares = shares_of(words, earlier[-MOST_LOOKED_AT:])
        best = max(shares.values(), default=0.0)
        least = max(_LEAST_NAMED, best * _NEAR_THE_BEST)
        told = SentenceWords.of(act.named_text)
        meant = [passage for passage, share in shares.items() if share >= least and told.may_be_restated_by(passage[1])]
        subjects = [word for word in parsed.words if word.dep in {"nsubj", "nsubjpass"}] if parsed is not None else []
        if subjects and told.claimed:  # "that I was a tram driver" names no model of a tram.
            meant = [each for each in meant if not told.claimed.isdisjoint(lemmas(each[1]))]
        if act.needs_recent_match and set(meant).isdisjoint(
            [*self._previous_sentences(), *((self.last_index, each.text) for each in before)]
        ):
            return None
        just_said = self._previous_sentences() if not before else []
        # A noun phrase for something just said: "my address". A clause repeats words, and a question states nothing.
        by_name = not subjects and not act.covers_all and _OWN_THING.match(act.named_text)
        if not meant and len(just_said) == 1 and by_name:
            meant = just_said
        denied = DENIES.search(act.named_text) is not None if subjects else None
        return Refusal((*meant, *((self.last_index, each.text) for each in inside)), words, act.covers_all, denied)

    def _resolve_learned(
        self, act: RefusalRequest, inside: Sequence[Sentence], before: Sequence[Sentence]
    ) -> Refusal | None:
        """What the words of a judged request name; None if it only points."""
        own = tuple((self.last_index, each.text) for each in inside)
        if (spoken_of := self._resolve_by_words(act, before)) is not None:
            return Refusal((*spoken_of.passages, *own), spoken_of.named_lemmas)
        text = self.turns[self.last_index].content[act.start : act.end]
        named = frozenset() if may_point(text) else object_to_forget(text)
        return Refusal(own, named) if named else None

    def _resolve_by_words(self, act: RefusalRequest, before: Sequence[Sentence]) -> Refusal | None:
        """What a request refers to by words of its clause mentioned before: "leave mum's drinking out"."""
        words = lemmas(self.turns[self.last_index].content[act.start : act.end])
        earlier = self._sentences(before)
        shares = shares_of(words, earlier[-MOST_LOOKED_AT:])
        best = max(shares.values(), default=0.0)
        meant = tuple(passage for passage, share in shares.items() if best and share >= best * _NEAR_THE_BEST)
        said = frozenset().union(*(lemmas(text) for _, text in meant)) & words
        return Refusal(meant, said) if meant else None

    def _sentences(self, before: Sequence[Sentence] = ()) -> list[tuple[int, str]]:
        """The sentences of the person's earlier messages, and those ``before`` a request in the last."""
        own = [(place, turn) for place, turn in enumerate(self.turns[: self.last_index]) if turn.role == "user"]
        earlier = [(place, each.text) for place, turn in own for each in split_sentences(turn.content)]
        return [*earlier, *((self.last_index, each.text) for each in before)]

    def _passages(self, sentences: Iterable[Sentence]) -> Refusal:
        return Refusal(tuple((self.last_index, each.text) for each in sentences))


_OF_SPEAKER = re.compile(r"\b(?:I|my|we|our)\b", re.IGNORECASE)
_OWN_THING = re.compile(r"(?:my|our|his|her|their|where|what|who) ", re.IGNORECASE)
