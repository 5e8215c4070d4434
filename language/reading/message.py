"""Reads one message clause by clause: resolves referents, checks assertion, words it in the third person."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from .asked import RememberRequest
from .clauses import SAY, Clause, clauses, is_inverted, is_verb, trimmed, unwrapped
from .dates import resolve_dates
from .filters import (
    announces_topic,
    holds_for_speaker,
    is_imperative,
    is_permanent,
    is_transient,
    says_too_little,
    unasserted_reason,
)
from .foreign import is_english
from .gate import is_whole, punctuated, rejection_reason
from .kin import is_personal_predicate
from .kinds import field_of, kind_of
from .normalise import MASK, Normalised
from .owning import INDEFINITES, affects_user, owner_of_subject, states_kinship
from .parse import Parsed, Word, parse
from .people import name_gender
from .persons import PRONOUNS, Person
from .standing import stands_alone
from .statement_builder import ReadStatement, StatementBuilder
from .wording import ClauseWording, Unclear
from .words import listed

_CONTENT = frozenset({"NOUN", "PROPN", "ADJ", "VERB", "NUM", "X"})
_COUNTERPARTS = listed("one none another some")
"""Objects that mean nothing without the noun that they stand for."""
_RECIPROCAL = frozenset({"meet", "marry", "married", "engaged", "divorce", "separate", "split", "break", "together"})
_PRONOUNS_ARE = re.compile(r"(?i)\bmy pronouns are ((?:she|he|they|it|xe|ze|ey)/\w+(?:/\w+)?)")
_UNREAL = frozenset({"question", "condition", "order", "joke or hearsay"})
"""Reasons to drop a clause for which what depends on it is not asserted either."""
_ASSERTING = frozenset({"because", "although", "though"})


class _Dropped(Exception):
    """The clause gives no statement, for this reason. An empty reason is not counted."""


class MessageReader(StatementBuilder):
    """Reads one message, clause by clause."""

    def sentence(self, parsed: Parsed, first: int, last: int, asked: RememberRequest | None) -> Iterator[ReadStatement]:
        """The statements of a sentence."""
        words = parsed.words[first:last]
        offset = words[0].start
        pronouns = _PRONOUNS_ARE.search(self.normalised.text[offset : words[-1].end])
        if pronouns is not None:
            text = f"The user's pronouns are {pronouns[1].lower()}."
            yield self._statement(self.cast.user, text, "", *self._span(words), explicit=asked is not None)
            return
        if asked is not None and asked.form == "order":
            kind = {"preferred_name": "name", "tone": "tone"}.get(field_of(asked.order), "asked")
            yield self._statement(self.cast.user, asked.order, kind, *self._span(words), explicit=True)
            return
        if asked is not None:
            part = Normalised(
                _capital(self.normalised.text[offset + asked.start : offset + asked.end]),
                self.normalised.starts[offset + asked.start : offset + asked.end],
                self.normalised.ends[offset + asked.start : offset + asked.end],
                self.normalised.quotes,
            )
            inner = parse(part.text)
            if inner is not None and inner.words:
                message = MessageReader(self.cast, self.message, part, self.reply, self.dropped)
                for start, end in inner.sentences:
                    yield from message.clauses(inner, start, end, explicit=True)
            return
        if not is_english(words):
            self.dropped["not English"] += 1
            return
        yield from self.clauses(parsed, first, last)

    def clauses(self, parsed: Parsed, first: int, last: int, *, explicit: bool = False) -> Iterator[ReadStatement]:
        """The statements of a sentence's clauses, and the kinship relations it mentions."""
        previous: Word | None = None
        question = parsed.text[: parsed.words[last - 1].end].rstrip().endswith("?") or is_inverted(parsed, first, last)
        for clause in map(unwrapped, clauses(parsed, first, last)):
            self.cast.resolve(parsed, clause.words(), self.referents)
            person, elided = self._resolve_subject(clause, previous)
            if not question:
                for each in clause.children("attr", "oprd") if person is not None else ():
                    self.cast.learn_from_copula(person or self.cast.user, each, parsed.child(each, "poss"))
                yield from self._kin_statements(clause)
            try:
                if question:
                    raise _Dropped("question")
                yield self._read_clause(clause, person, elided=elided, explicit=explicit)
                if person is not None and person.role != "other":
                    self.cast.learn_relatives(parsed, clause.head, person, self.referents)
            except Unclear as unclear:
                self.dropped[unclear.reason] += 1
                yield from self._reasons(clause)
            except _Dropped as dropped:
                if str(dropped) not in _UNREAL:
                    yield from self._reasons(clause)
                # The speaker of reported speech is not an antecedent for the next pronoun.
                person = None if str(dropped) == "joke or hearsay" and person is not self.cast.legacy else person
                if str(dropped) == "joke or hearsay":
                    self.cast.mentioned_now = [one for one in self.cast.mentioned_now if one is self.cast.legacy]
                self.dropped[str(dropped)] += 1
            self.cast.set_focus(person)
            self.last_person = person or self.last_person
            previous = clause.head

    def _reasons(self, clause: Clause) -> Iterator[ReadStatement]:
        """What a dropped clause tells in passing: "I must, because I have asthma", "though she was deaf"."""
        parsed = clause.parsed
        for verb in [] if clause.lower_words() & {"if", "unless"} else clause.words():
            mark, subject = parsed.child(verb, "mark"), parsed.child(verb, "nsubj", "nsubjpass")
            if verb.dep != "advcl" or mark is None or mark.low not in _ASSERTING or subject is None:
                continue
            person = self.referents.get(subject.index)
            if person is None or (verb.head != clause.head.index and person is not self.cast.user):
                continue
            said = frozenset(each.index for each in parsed.subtree(verb) if each.index != mark.index)
            with suppress(_Dropped, Unclear):
                inner = Clause(parsed, verb, said & clause.indices, subject)
                yield self._read_clause(inner, person, elided=False, explicit=False)

    def _resolve_subject(self, clause: Clause, previous: Word | None) -> tuple[Person | None, bool]:  # noqa: PLR0911
        """The referent of the clause's subject, and whether the subject is elided."""
        head, subject = clause.head, clause.subject
        if subject is not None:
            if subject.low == "we":
                both = self.cast.other_in_we(self._is_reciprocal(clause))
                if both is not None and both not in {self.referents.get(each.index) for each in clause.words()}:
                    return both, False
                if holds_for_speaker(clause, reciprocal=self._is_reciprocal(clause)):
                    self.referents[subject.index] = self.cast.user
            return self.referents.get(subject.index), False
        is_naming = head.lemma in {"call", "name"} and not clause.children("aux")
        if not is_verb(head) or is_imperative(clause) or is_naming:
            return None, False
        past = head.tag in {"VBD", "VBZ", "VBN", "VBG"} or any(
            each.tag in {"VBD", "VBZ", "MD"} for each in clause.children("aux", "auxpass")
        )
        left = [each for each in clause.parsed.children(head) if each.index < head.index]
        before = {each.dep for each in left}
        strange = head.low == "is" and self.last_person in {None, self.cast.user}
        is_row = any(each.text == "-" for each in left)  # "Sven - emigrated in 1950."
        if not past or strange or is_row or before & {"compound", "amod", "dep", "acomp"}:
            return None, False
        if previous is not None or self.last_person is not None:
            user = self.cast.user if self.defaults_to_user and not self.cast.mentioned_now else None
            person = self.last_person or user
            return (None if person is self.cast.user and head.tag == "VBZ" else person), True
        asked = re.findall(
            r"(?i)\b(?:did|was|were|does|do|is|are|had|has|have|made|would|could) (he|she|you|they|we|it)\b", self.reply
        )
        if asked:
            low = asked[-1].lower()
            if low == "you":
                return (None if head.tag == "VBZ" else self.cast.user), True
            near = [self.cast.focus, *reversed(self.cast.mentioned_before)]
            gender = PRONOUNS.get(low)
            fitting = (each for each in near if each is not None and gender is not None and each.fits(gender))
            return next(fitting, None), True
        if self.cast.legacy is None and self.defaults_to_user and not self.cast.mentioned_now:
            return self.cast.user, True
        return None, True

    @staticmethod
    def _is_reciprocal(clause: Clause) -> bool:
        """Whether the predicate with "we" is reciprocal: to meet, to be married, to do something together."""
        said = (clause.head.lemma, *(each.low for each in clause.children("acomp", "advmod")))
        is_with_each_other = clause.head.lemma in {"speak", "talk", "part"} and not clause.children("dobj")
        return is_with_each_other or not _RECIPROCAL.isdisjoint(said)

    # --- a clause -----------------------------------------------------------------------------------------------

    def _read_clause(  # noqa: PLR0912
        self, clause: Clause, person: Person | None, *, elided: bool, explicit: bool
    ) -> ReadStatement:
        """The statement of a clause. Raises _Dropped or Unclear."""
        if not is_verb(clause.head) or any(each.tag == "WRB" for each in clause.children("advmod")):
            raise _Dropped("no statement")
        loss = self._read_loss(clause)
        if loss is not None:
            return loss
        thing = clause.subject is not None and (person is None or (person.role == "other" and not person.kin))
        owner = (
            (owner_of_subject(clause, self.referents) or person or self._legacy_acted_on(clause)) if thing else person
        )
        affected = owner is None and thing and affects_user(clause)
        owner = self.cast.user if affected else owner
        thing = thing and owner is not person
        if owner is None:
            if not explicit:
                raise _Dropped(
                    "unknown subject" if clause.subject is None or clause.subject.low in PRONOUNS else "nobody's"
                )
            owner = self.cast.user
        self._check_name(clause, owner)
        about = self._filed_under(clause, owner)
        if about is None and not explicit:
            raise _Dropped("about somebody else")
        about = about or owner
        if owner.role == "user" and announces_topic(clause):
            raise _Dropped("of the moment")
        if owner.role == "user" and not thing and clause.head.lemma == "die":
            raise _Dropped("unknown subject")  # "Died in 2019", of whom was said elsewhere.
        reason = unasserted_reason(clause, owner, elided=elided)
        if reason:
            raise _Dropped(reason)
        sense = clause.with_main_verb()
        is_passing = not (explicit or affected) and self._is_passing(sense, about, owner, thing=thing)
        subject = None if affected else clause.subject
        named = {word.index for word in clause.parsed.subtree(subject)} if subject is not None else set()
        content = [
            word
            for word in trimmed(clause)
            if (
                word.pos in _CONTENT
                or word.low in INDEFINITES
                or (clause.head.lemma not in SAY and self.referents.get(word.index) not in {owner, None})
            )
            and word.index not in named
        ]
        if says_too_little(sense, owner, content):
            raise _Dropped("says too little")
        if any(_is_counterpart(clause, each) for each in clause.children("dobj", "attr")):
            raise _Dropped("unclear pronoun")
        try:
            clause, sentence = self._word_clause(clause, owner if not thing else None, about, elided=elided)
        except Unclear:
            if is_passing:
                raise _Dropped("of the moment") from None
            raise
        kind = kind_of(clause.with_main_verb(), sentence, about) or ("asked" if explicit else "")
        if not explicit and not stands_alone(clause, kind, of_user=owner.role == "user" and not thing, of_thing=thing):
            raise _Dropped("does not stand alone")
        self.deceased = owner if kind == "death" else None
        if about.role == "legacy" and owner.role == "other" and kind != "health":
            kind = "relationship"
        statement = self._statement(about, sentence, kind, *self._span(clause.words()), explicit=explicit)
        return replace(statement, is_momentary=is_passing)

    def _is_passing(self, clause: Clause, about: Person, owner: Person, *, thing: bool) -> bool:
        """Whether a clause holds only at this moment; for other people, only motion and similar."""
        if about.role == "user":
            return not is_permanent(clause) if thing else is_transient(clause)
        moving = clause.head.lemma in {"come", "go", "make", "do", "get", "look", "try"}
        return about.role == "other" and clause.head.tag == "VBG" and moving

    def _word_clause(self, clause: Clause, person: Person | None, about: Person, *, elided: bool) -> tuple[Clause, str]:
        """The clause as a sentence, without modifiers that are unclear. Raises Unclear if the rest is unclear too."""
        age = (
            clause.head.lemma == "be"
            and clause.head.tag == "VBD"
            and any(
                (each.pos == "NUM" and each.low != "one") or (each.entity == "DATE" and each.low in {"years", "old"})
                for each in clause.children("attr", "acomp")
            )
        )
        died = person is not None and person is self.deceased and person.gender
        if age and "when" not in clause.lower_words() and not died:
            raise _Dropped("an age without its time")
        while True:
            wording = ClauseWording(self.cast, self.normalised, self.referents, of_legacy=about.role == "legacy")
            try:
                text = wording.render(clause, person, elided=elided)
                break
            except Unclear as unclear:
                modifier = clause.droppable_modifier(unclear.word)
                if modifier is None or age:
                    raise
                clause = clause.without(modifier)
        words = clause.words()
        past = clause.head.tag in {"VBD", "VBN"} or any(each.tag == "VBD" for each in clause.children("aux", "auxpass"))
        sentence = resolve_dates(text, self.message.at, past=past)
        if sentence is None:
            raise _Dropped("a date that can't be told")
        if age and died and "when" not in clause.lower_words():
            sentence += f" when {'he' if died == 'm' else 'she'} died"
        if about.role == "legacy":  # "He had a weakness for detective stories, Father Declan."
            sentence = re.sub(rf"(?<=\w), {re.escape(about.name)},?(?= (?:and|but)\b|\.?$)", "", sentence)
        sentence = punctuated(sentence)
        wrong = rejection_reason(sentence, " ".join(word.text for word in words))
        wrong = wrong or ("" if is_whole(sentence) else "broken grammar")
        if wrong:
            raise _Dropped(wrong)
        legacy = self.cast.legacy
        if legacy is not None and about is not legacy and sentence.endswith(f", {legacy.name}."):
            raise _Dropped("unknown subject")  # "Never married, Win."
        if about.role == "legacy" and about.name not in sentence:
            raise _Dropped("unknown subject")
        return clause, sentence

    def _filed_under(self, clause: Clause, owner: Person) -> Person | None:
        """The person a statement is filed under: its owner, the legacy if also involved, or None."""
        legacy = self.cast.legacy
        if owner.role != "other":
            return owner
        if legacy is not None:
            objects = {self.referents.get(each.index) for each in clause.children("dobj", "dative")}
            objects |= {
                self.referents.get(each.index)
                for verb in clause.children("ccomp", "xcomp")
                for each in clause.parsed.children(verb)
                if each.dep in {"nsubj"} and clause.head.lemma not in SAY
            }
            if legacy in objects or owner.owner is legacy or states_kinship(clause, self.referents, legacy):
                return legacy
        root = owner
        while root.owner is not None:
            root = root.owner
        if (root.role == "user" and owner.owner is root) or legacy is None:
            return owner
        return None

    def _is_name(self, name: str, clause: Clause) -> bool:
        """Whether a capitalised word is really a name: at the start of a line any word is capitalised."""
        known = name in self.message.content or name_gender(name.split(" ", maxsplit=1)[0])
        return bool(known) or is_personal_predicate(clause.parsed, clause.head)

    def _check_name(self, clause: Clause, owner: Person) -> None:
        """Handle "his name is Ben" after a new person: it is not about the legacy. Raises _Dropped."""
        named = owner.role == "other" and not owner.kin and owner.gender != "several"
        if named and not self._is_name(owner.name, clause):
            raise _Dropped("nobody's")
        name = next((each for each in clause.children("attr", "acomp") if each.low not in self.cast.legacy_names), None)
        bare = (
            clause.subject is not None
            and clause.subject.low == "name"
            and len(clause.parsed.children(clause.subject)) == 1
        )
        if bare and name is not None and owner is self.cast.legacy:
            self.cast.set_focus(self.cast.find_or_add(name=name.text.capitalize()))
            raise _Dropped("unclear pronoun")

    def _read_loss(self, clause: Clause) -> ReadStatement | None:
        """A death stated as a loss: "we lost him to a stroke"."""
        legacy, head = self.cast.legacy, clause.head
        if legacy is None or head.low != "lost" or clause.subject is None or clause.subject.low not in {"we", "i"}:
            return None
        lost = next(iter(clause.children("dobj")), None)
        if lost is None or self.referents.get(lost.index) is not legacy or clause.children("neg", "aux"):
            return None
        rest = [word for word in clause.words() if word.index > max(each.index for each in clause.parsed.subtree(lost))]
        text = self.normalised.text[rest[0].start : rest[-1].end] if rest else ""
        told = resolve_dates(re.sub(r"^to ", "of ", text.strip(" .!,")), self.message.at, past=True)
        if told is None or re.search(r"(?i)\b(?:i|my|we|our|he|she|it|that)\b", text) or MASK in text:
            raise _Dropped("unclear pronoun")
        return self._statement(
            legacy, punctuated(f"{legacy.name} died {told}".strip()), "death", *self._span(clause.words())
        )


def _is_counterpart(clause: Clause, word: Word) -> bool:
    """Whether a word stands for a noun of another sentence: "has one on the thumb", "had about forty"."""
    inner = clause.parsed.children(word)
    if any(each.dep == "prep" and each.low == "of" for each in inner):
        return False
    is_number = word.pos == "NUM" and word.dep == "dobj" and clause.head.low in {"had", "kept", "got"}
    is_number = is_number or (word.low == "one" and word.dep == "dobj")
    return is_number or (word.low in _COUNTERPARTS and all(each.dep == "prep" for each in inner))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
