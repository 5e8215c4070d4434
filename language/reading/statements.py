"""Reads a batch of messages: what the user says of a legacy, of themself and of their people, as statements.

A message is mended, parsed and parted into clauses; for each it is told who is meant, whether it states anything, and
what it says in the third person. What does not come out whole is dropped, and counted by the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from language.base import ExtractionRequest, Utterance
from language.offline.lexicon.words import KIN, PETS
from language.offline.modality import is_instruction
from language.offline.sentences import own_words
from language.reading.asked import Asked, find_asked
from language.reading.clauses import SAY, Clause, clauses, is_verb
from language.reading.dates import dated
from language.reading.filters import doubts_before, orders, passing, says_too_little, unstated
from language.reading.gate import fault, finished
from language.reading.kinds import field_of, kind_of
from language.reading.normalise import MASK, Mended, is_casual, mend
from language.reading.parse import Parsed, Word, parse
from language.reading.people import PRONOUNS, Cast, Person
from language.reading.wording import Unclear, Wording, trimmed

_CONTENT = frozenset({"NOUN", "PROPN", "ADJ", "VERB", "NUM", "X"})
_TELLING = frozenset(
    "anybody nobody everybody anyone everyone everything everywhere anything nothing twice always never".split()
)
_TOGETHER = frozenset({"meet", "marry", "divorce", "separate"})
_NAME = re.compile(r"(?<![.!?] )(?<!^)\b[A-Z][a-zà-ÿ]{2,}\b")
_NEVER_MIND = re.compile(
    r"(?i)^(?:\W|please|oh|actually|ok|okay|well|and|so|no|just|sorry|wait|can you|could you|let'?s)*"
    r"(?:forget (?:that|it|this|what i|about (?:it|that)|i\b|everything)|scratch that|strike that|disregard (?:that|this|my last)|"
    r"never ?mind|(?:i'?m |i was )?(?:just |only )?(?:kidding|joking))|\boff the record\b|"
    r"\b(?:don'?t|do not|never) (?:ever )?(?:remember|save|store|keep|record|memori[sz]e|write (?:that |this |it )?down|note)"
    r"(?! (?:when|where|how|who|much|why|if|him|her|them|anymore|exactly|which|his|my|the|a|any|all|well|track|up|in|secrets|still|quiet)\b)\b"
)
_ENGLISH = frozenset(
    """the a an and or but of to in on at for from with by as is are was were be been am do does did have has had not
    i he she it we they you my his her our their me him us them this that who which when where what so very never
    always every all would could will can about after before into out up there if then too also just more most some
    any no only i'm don't""".split()
)
_PRONOUNS_ARE = re.compile(r"(?i)\bmy pronouns are ((?:she|he|they|it|xe|ze|ey)/\w+(?:/\w+)?)")
_FAVOURITE = frozenset({"favourite", "favorite", "favourites", "favorites"})
_MOST_POINTING_BACK = 8


@dataclass(frozen=True, slots=True)
class Statement:
    """What a clause says of ``person``, as a sentence. ``quote`` is a verbatim part of the message ``index``."""

    person: Person
    content: str
    kind: str
    index: int
    quote: str
    explicit: bool = False


@dataclass(slots=True)
class Reading:
    """What a batch says, in the order it is said, and how many clauses were dropped by which reason."""

    statements: list[Statement] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def read(request: ExtractionRequest) -> Reading:
    """Read what the user's messages of a batch state; never raises."""
    return _Reader(request).read()


class _Dropped(Exception):
    """A clause gives no statement, for this reason; an empty one is not counted."""


@dataclass(slots=True)
class _Told:
    """A statement as it was made, for what comes after it in its message."""

    statement: Statement
    clause: Clause
    person: Person


class _Reader:
    def __init__(self, request: ExtractionRequest) -> None:
        self.request = request
        own = [own_words(message.content) for message in request.messages if message.role == "user"]
        self.casual = is_casual([text.strip() for text in own])
        self.cast = Cast.of(request.legacy_name, request.user_name, own)
        heard = " ".join(message.content for message in request.messages if message.role == "assistant")
        names = {word.lower() for word in _NAME.findall(heard)} - _ENGLISH - {"what", "how", "why", "goodbye", "thanks"}
        self.names = names | self.cast.legacy_names | {request.user_name.strip().lower()}
        self.dropped: Counter[str] = Counter()
        self.reply = ""

    def read(self) -> Reading:
        batches: list[list[Statement]] = []
        for message in self.request.messages:
            if message.role == "assistant":
                self.reply = message.content
            if message.role != "user":
                continue
            self.cast.next_message(self.reply)
            said = self._message(message)
            if said is None:
                self.dropped["taken back"] += len(batches[-1]) if batches else 0
                batches[-1:] = [[]]
            else:
                batches.append(said)
            self.reply = ""
        return Reading([statement for batch in batches for statement in batch], self.dropped)

    # --- a message ----------------------------------------------------------------------------------------------

    def _message(self, message: Utterance) -> list[Statement] | None:
        """What a message states; None if it only takes back the one before."""
        if is_instruction(message.content):
            self.dropped["order"] += 1
            return []
        text = own_words(message.content)
        if any(_NEVER_MIND.search(part.replace("’", "'").strip()) for part in re.split(r"(?<=[.!?])\s+|\n", text)):
            self.dropped["taken back"] += 1
            return None if len(text.split()) <= _MOST_POINTING_BACK and not re.search(r"(?i)\b(?:remember|forget) (?:that )?i\b", text) else []
        mended = mend(text, self.names, casual=self.casual or is_casual([text.strip()]))
        parsed = parse(mended.text)
        if parsed is None:
            self.dropped["not parsed"] += 1
            return []
        reader = _Message(self, message, mended)
        done: list[list[Statement]] = []
        for first, last in parsed.sentences:
            words = parsed.words[first:last]
            sentence = parsed.text[words[0].start : words[-1].end].strip()
            if doubts_before(sentence) and done:
                self.dropped["hedge"] += len(done[-1])
                done[-1] = []
            asked = find_asked(sentence)
            if asked is not None and asked.form == "before":
                done[-1:] = [[replace(one, explicit=True) for one in each] for each in done[-1:]]
                continue
            done.append(list(reader.sentence(parsed, first, last, asked)))
        return _without_doubles([one for each in done for one in each])

    def drop(self, reason: str) -> None:
        """Count a clause that gives nothing."""
        if reason:
            self.dropped[reason] += 1


class _Message:
    """One message as it is read, clause by clause."""

    def __init__(self, reader: _Reader, message: Utterance, mended: Mended) -> None:
        self.reader, self.message, self.mended, self.cast = reader, message, mended, reader.cast
        self.last: Person | None = None
        self.who: dict[int, Person | None] = {}

    def sentence(self, parsed: Parsed, first: int, last: int, asked: Asked | None) -> Iterator[Statement]:
        """What a sentence states."""
        words = parsed.words[first:last]
        offset = words[0].start
        pronouns = _PRONOUNS_ARE.search(self.mended.text[offset : words[-1].end])
        if pronouns is not None:
            text = f"The user's pronouns are {pronouns[1].lower()}."
            yield self._statement(self.cast.user, text, "", *self._span(words), explicit=asked is not None)
            return
        if asked is not None and asked.form == "order":
            kind = {"preferred_name": "name", "tone": "tone"}.get(field_of(asked.order), "asked")
            yield self._statement(self.cast.user, asked.order, kind, *self._span(words), explicit=True)
            return
        if asked is not None:
            part = Mended(
                _capital(self.mended.text[offset + asked.start : offset + asked.end]),
                self.mended.starts[offset + asked.start : offset + asked.end],
                self.mended.ends[offset + asked.start : offset + asked.end],
                self.mended.quotes,
            )
            inner = parse(part.text)
            if inner is not None and inner.words:
                message = _Message(self.reader, self.message, part)
                for start, end in inner.sentences:
                    yield from message.clauses(inner, start, end, explicit=True)
            return
        if not is_english(words):
            self.reader.drop("not English")
            return
        yield from self.clauses(parsed, first, last)

    def clauses(self, parsed: Parsed, first: int, last: int, *, explicit: bool = False) -> Iterator[Statement]:
        """What the clauses of a sentence state, and who is whose kin in it."""
        told: list[_Told] = []
        previous: Word | None = None
        question = parsed.text[: parsed.words[last - 1].end].rstrip().endswith("?")
        for clause in clauses(parsed, first, last):
            clause = _unwrapped(clause)
            self.cast.mentions(parsed, clause.words(), self.who)
            person, elided = self._subject(clause, previous)
            if not question:
                for each in clause.children("attr", "oprd") if person is not None else ():
                    self.cast.bind(person, each, parsed.child(each, "poss"))
                yield from self._kin(clause)
            try:
                if question:
                    raise _Dropped("question")
                statement = self._clause(clause, person, elided=elided, explicit=explicit)
                told.append(_Told(statement, clause, person or statement.person))
            except Unclear as unclear:
                joined = self._joined(told, clause, person) if previous is not None else None
                if joined is not None:
                    told[-1] = joined
                else:
                    self.reader.drop(unclear.reason)
            except _Dropped as dropped:
                self.reader.drop(str(dropped))
            beside = next((each for each in parsed.children(clause.subject) if each.dep == "conj"), None) if clause.subject else None
            self.cast.spoken_of(person, self.who.get(beside.index) if beside else None)
            self.last = person or self.last
            previous = clause.head
        yield from (each.statement for each in told)

    def _subject(self, clause: Clause, previous: Word | None) -> tuple[Person | None, bool]:
        """Whom a clause is about, and whether it leaves that out."""
        head, subject = clause.head, clause.subject
        if subject is not None:
            if subject.low == "we" and head.lemma in _TOGETHER and self.cast.subject is self.cast.legacy:
                return self.cast.legacy, False
            return self.who.get(subject.index), False
        if not is_verb(head) or orders(clause):
            return None, False
        past = head.tag in {"VBD", "VBZ", "VBN"} or any(each.tag in {"VBD", "VBZ", "MD"} for each in clause.children("aux", "auxpass"))
        if not past:
            return None, False
        if previous is not None or self.last is not None:
            return self.last, True
        asked = re.findall(r"(?i)\b(?:did|was|were|does|do|is|are|had|has|have|made|would|could) (he|she|you|they|we|it)\b", self.reader.reply)
        if asked:
            low = asked[-1].lower()
            if low == "you":
                return self.cast.user, True
            near = [self.cast.subject, *reversed(self.cast.before)]
            return next((one for one in near if one is not None and low in PRONOUNS and one.fits(PRONOUNS[low])), None), True
        return (self.cast.legacy if head.lemma == "bear" and not self.cast.unclear else None), True

    # --- a clause -----------------------------------------------------------------------------------------------

    def _clause(self, clause: Clause, person: Person | None, *, elided: bool, explicit: bool) -> Statement:
        """What a clause states. Raises _Dropped or Unclear."""
        if not is_verb(clause.head):
            raise _Dropped("no statement")
        loss = self._loss(clause)
        if loss is not None:
            return loss
        thing = clause.subject is not None and (person is None or (person.role == "other" and not person.kin))
        owner = (self._owner(clause) or person) if thing else person
        thing = thing and owner is not person
        if owner is None:
            if not explicit:
                raise _Dropped("unknown subject" if clause.subject is None or clause.subject.low in PRONOUNS else "nobody's")
            owner = self.cast.user
        if orders(clause) and not elided:
            raise _Dropped("order")
        about = self._about(clause, owner)
        if about is None and not explicit:
            raise _Dropped("about somebody else")
        about = about or owner
        reason = unstated(clause, owner)
        if reason:
            raise _Dropped(reason)
        sense = clause.sense()
        if about.role == "user" and owner.role == "user" and not explicit and not thing and passing(sense):
            raise _Dropped("of the moment")
        if about.role == "other" and clause.head.tag == "VBG" and clause.head.lemma in {"come", "go", "make", "do", "get", "look", "try"}:
            raise _Dropped("of the moment")
        if about.role == "user" and thing and not explicit and not _lasting_thing(clause):
            raise _Dropped("of the moment")
        named = {word.index for word in clause.parsed.subtree(clause.subject)} if clause.subject is not None else set()
        content = [
            word
            for word in trimmed(clause)
            if (word.pos in _CONTENT or word.low in _TELLING)
            and word.index not in named
        ]
        if says_too_little(sense, owner, content):
            raise _Dropped("says too little")
        clause, sentence = self._worded(clause, owner if not thing else None, about, elided=elided)
        kind = kind_of(clause.sense(), sentence, about) or ("asked" if explicit else "")
        if about.role == "legacy" and owner.role == "other" and kind != "health":
            kind = "relationship"
        return self._statement(about, sentence, kind, *self._span(clause.words()), explicit=explicit)

    def _worded(self, clause: Clause, person: Person | None, about: Person, *, elided: bool) -> tuple[Clause, str]:
        """The sentence, leaving out asides that can't be told. Raises Unclear if what can't be is the point."""
        age = clause.head.lemma == "be" and clause.head.tag == "VBD" and any(
            each.pos == "NUM" or (each.entity == "DATE" and each.low in {"years", "old"}) for each in clause.children("attr", "acomp")
        )
        if age and not clause.children("advcl"):
            raise _Dropped("an age without its time")
        while True:
            wording = Wording(self.cast, self.mended, self.who, of_legacy=about.role == "legacy")
            try:
                text = wording.say(clause, person, elided=elided)
                break
            except Unclear as unclear:
                aside = clause.aside(unclear.word)
                if aside is None or age:
                    raise
                clause = clause.without(aside)
        words = clause.words()
        past = clause.head.tag in {"VBD", "VBN"} or any(each.tag == "VBD" for each in clause.children("aux", "auxpass"))
        sentence = dated(text, self.message.at, past=past)
        if sentence is None:
            raise _Dropped("a date that can't be told")
        sentence = finished(sentence)
        wrong = fault(sentence, " ".join(word.text for word in words))
        if wrong:
            raise _Dropped(wrong)
        if about.role == "legacy" and about.name not in sentence:
            raise _Dropped("unknown subject")
        return clause, sentence

    def _about(self, clause: Clause, owner: Person) -> Person | None:
        """Of whom a statement about somebody is kept: them, the legacy whom it also tells of, or the user as theirs."""
        legacy = self.cast.legacy
        if owner.role != "other":
            return owner
        if legacy is not None:
            objects = {self.who.get(each.index) for each in clause.children("dobj", "dative")}
            objects |= {self.who.get(each.index) for verb in clause.children("ccomp", "xcomp") for each in clause.parsed.children(verb) if each.dep in {"nsubj"} and clause.head.lemma not in SAY}
            if legacy in objects or owner.owner is legacy or self._tells_kin(clause):
                return legacy
        root = owner
        while root.owner is not None:
            root = root.owner
        if (root.role == "user" and owner.owner is root) or legacy is None:
            return owner
        return None

    def _tells_kin(self, clause: Clause) -> bool:
        """Read "my brother Tom is her son": whose kin somebody is, of the legacy."""
        for each in clause.children("attr"):
            holder = clause.parsed.child(each, "poss")
            if holder is not None and self.who.get(holder.index) is self.cast.legacy:
                return True
        return False

    def _owner(self, clause: Clause) -> Person | None:
        """Whose thing a clause is about: "her handwriting was atrocious", "green is my favourite colour"."""
        subject = clause.subject
        liked = (word for each in clause.children("attr") for word in clause.parsed.subtree(each) if word.low in _FAVOURITE)
        for noun in (subject, *clause.children("attr"), *liked):
            holder = clause.parsed.child(noun, "poss") if noun is not None else None
            while holder is not None and holder.index not in self.who and clause.parsed.child(holder, "poss") is not None:
                holder = clause.parsed.child(holder, "poss")
            if holder is None or (noun is not subject and noun.low not in KIN and not _FAVOURITE & {each.low for each in clause.parsed.subtree(noun)}):
                continue
            owner = self.who.get(holder.index) if holder.low != "our" else None
            if owner is not None:
                return owner
        return None

    def _loss(self, clause: Clause) -> Statement | None:
        """Read "we lost him to a stroke": a death."""
        legacy, head = self.cast.legacy, clause.head
        if legacy is None or head.low != "lost" or clause.subject is None or clause.subject.low not in {"we", "i"}:
            return None
        lost = next(iter(clause.children("dobj")), None)
        if lost is None or self.who.get(lost.index) is not legacy or clause.children("neg", "aux"):
            return None
        rest = [word for word in clause.words() if word.index > max(each.index for each in clause.parsed.subtree(lost))]
        text = self.mended.text[rest[0].start : rest[-1].end] if rest else ""
        text = dated(re.sub(r"^to ", "of ", text.strip(" .!,")), self.message.at, past=True)
        if text is None or re.search(r"(?i)\b(?:i|my|we|our|he|she|it|that)\b", text) or MASK in text:
            raise _Dropped("unclear pronoun")
        return self._statement(legacy, finished(f"{legacy.name} died {text}".strip()), "death", *self._span(clause.words()))

    def _joined(self, told: list[_Told], clause: Clause, person: Person | None) -> _Told | None:
        """A clause whose "it" or "them" the one before it of the same person explains, said together with that."""
        if not told or told[-1].person is not person or person is None:
            return None
        last = told[-1]
        parsed = clause.parsed
        ids = last.clause.ids | clause.ids | frozenset(range(max(last.clause.ids) + 1, min(clause.ids)))
        if last.clause.parsed is not parsed or len(ids) > 60 or not any(parsed.words[index].low in {"and", "but"} for index in ids):  # noqa: PLR2004
            return None
        both = Clause(parsed, last.clause.head, frozenset(ids), last.clause.subject)
        try:
            reason = unstated(replace(both, head=clause.head), person)
            if reason:
                return None
            both, sentence = self._worded(both, person, last.statement.person, elided=False)
        except (Unclear, _Dropped):
            return None
        start, end = self._span(both.words())
        statement = replace(last.statement, content=sentence, quote=self.message.content[start:end])
        return _Told(statement, both, person)

    # --- kin ----------------------------------------------------------------------------------------------------

    def _kin(self, clause: Clause) -> Iterator[Statement]:
        """Tell once who somebody is: what the legacy was to the user, and kin with their names."""
        cast, legacy = self.cast, self.cast.legacy
        for word in clause.words():
            person = self.who.get(word.index)
            if person is None or person.told or word.low in PRONOUNS or person.role == "user":
                continue
            if person is legacy and person.kin and word.low in {person.kin, *cast.legacy_names}:
                said = {each.low for each in clause.words()}
                if person.kin not in said or not said & cast.legacy_names or person.kin in cast.legacy_names:
                    continue
                person.told = True
                if any(each.low == person.kin and each.dep == "attr" for each in clause.words()):
                    continue
                user = cast.user.name or "the user"
                was = "is" if legacy is not None and re.search(r"\b(?:is|'s) my\b", clause.parsed.text) else "was"
                yield self._statement(person, f"{person.name} {was} {user}'s {person.kin}.", "relationship", *self._span([word]))
            elif person.role == "other" and person.name and person.kin and word.low == person.kin and person.owner is not None:
                yield from self._named_kin(clause, word, person, person.owner)

    def _named_kin(self, clause: Clause, word: Word, person: Person, owner: Person) -> Iterator[Statement]:
        cast = self.cast
        if owner.role == "other" or not word.text.islower() or word.dep == "attr":
            return
        person.told = True
        if owner is cast.legacy:
            about, whose = owner, owner.name
        else:
            about, whose = cast.user, "The user"
        article = "an" if word.low[0] in "aeiou" else "a"
        name = person.name[:1].upper() + person.name[1:]
        verb = "had" if about.role == "legacy" else "has"
        text = f"{whose} {verb} {article} {word.low} named {name}."
        near = [each for each in clause.words() if abs(each.index - word.index) <= 3]  # noqa: PLR2004
        if not fault(text, ""):
            yield self._statement(about, text, "relationship", *self._span(near))

    # --- out ----------------------------------------------------------------------------------------------------

    def _span(self, words: Sequence[Word]) -> tuple[int, int]:
        """Where in the message words stand, without the marks at their ends."""
        start, end = self.mended.place(words[0].start, words[-1].end)
        content = self.message.content
        while start < end and content[start] in " ,;-\n\r\t":
            start += 1
        while end > start and content[end - 1] in " ,;-\n\r\t":
            end -= 1
        return start, end

    def _statement(self, person: Person, content: str, kind: str, start: int, end: int, *, explicit: bool = False) -> Statement:
        return Statement(person, content, kind, self.message.index, self.message.content[start:end], explicit)


def _unwrapped(clause: Clause) -> Clause:
    """Of "I remember that she loved roses" what is remembered."""
    inner = next(iter(clause.children("ccomp")), None)
    subject = clause.subject
    plain = clause.head.lemma in {"remember", "recall", "swear", "know"} and subject is not None and subject.low == "i"
    if inner is None or not plain or clause.children("neg") or inner.index < clause.head.index or clause.head.tag == "VBD":
        return clause
    if any(each.low in {"how", "what", "when", "where", "why", "who", "if", "whether"} for each in clause.parsed.children(inner)):
        return clause
    ids = frozenset(word.index for word in clause.parsed.subtree(inner) if not (word.dep == "mark" and word.head == inner.index))
    own = next((each for each in clause.parsed.children(inner) if each.dep in {"nsubj", "nsubjpass"}), None)
    return Clause(clause.parsed, inner, ids & clause.ids, own)


def _without_doubles(statements: list[Statement]) -> list[Statement]:
    """Without what only tells a name and a kinship that another statement of the message has too."""
    kept = []
    for one in statements:
        named = re.search(r" (?:had|has) an? ([\w-]+) named (.+)\.$", one.content)
        if not named or not any(f"{named[1]} {named[2]}" in other.content for other in statements):
            kept.append(one)
    return kept


def _lasting_thing(clause: Clause) -> bool:
    """Whether what is told of a thing of the user's is more than how it is just now."""
    head = clause.head
    if head.lemma == "be" and head.tag != "VBG":
        return not passing(clause)
    if clause.subject is not None and clause.subject.lemma in PETS:
        return head.tag in {"VBZ", "VBP"} or head.lemma in {"die", "call", "name", "pass"}
    return head.lemma in {"call", "name"} or (head.tag in {"VBZ", "VBP"} and bool(clause.children("prep", "dobj", "xcomp", "acomp")))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def is_english(words: Sequence[Word]) -> bool:
    """Whether a sentence has enough of the small words of English to be read as such."""
    plain = [word.low for word in words if word.text[:1].isalpha()]
    odd = sum(not word.isascii() for word in plain)
    small = sum(word in _ENGLISH for word in plain)
    small += sum(word.pos == "VERB" and word.lemma != word.low and word.low.endswith(("ed", "ing", "s")) for word in words)
    return bool(plain) and odd * 3 <= len(plain) and small * 6 >= len(plain)


