"""Reads a batch of messages: who is spoken of, what is said of them, and which messages say it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from language.base import ExtractionRequest, Utterance
from language.offline import modality
from language.offline.discourse import Discourse
from language.offline.explicit import Request, find_request
from language.offline.forgetting import Forgetting, find_forgetting, meant
from language.offline.people import Cast, Person
from language.offline.reader import Reader
from language.offline.sentences import MAX_CHARACTERS, Sentence, own_words, split_sentences
from language.offline.statements import Composer, Statement
from language.offline.tokens import Token, tokenize

MAX_SENTENCE = 600
MAX_TOKENS = 160

Lines = Mapping[int, "list[Line]"]


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence and its words (those of its first 600 characters).

    ``english`` says that it is in English as far as its small words tell, ``readable`` that the rules may read it: it
    is English, not too long, and free of quotations, addresses and mark-up.
    """

    sentence: Sentence
    tokens: tuple[Token, ...]
    english: bool
    readable: bool


def lines_of(messages: Iterable[Utterance]) -> Lines:
    """Return the lines of each message by its index."""
    return {message.index: _lines(message.content) for message in messages}


def _lines(content: str) -> list[Line]:
    lines = []
    for sentence in split_sentences(own_words(content[:MAX_CHARACTERS])):
        tokens = tuple(tokenize(sentence.text[:MAX_SENTENCE], sentence.start))
        english = modality.is_english(tokens)
        short = len(sentence.text) <= MAX_SENTENCE and len(tokens) <= MAX_TOKENS
        lines.append(Line(sentence, tokens, english, english and short and modality.is_plain(sentence.text)))
    return lines


@dataclass(frozen=True, slots=True)
class Found:
    """A statement with the message that makes it; ``explicit`` when the user asked for it to be remembered."""

    statement: Statement
    index: int
    quote: str
    explicit: bool = False


def read_statements(request: ExtractionRequest, lines: Lines) -> list[Found]:
    """List what the user says of themself, of the legacy and of others, in the order it is said."""
    own, replies = _readable(request, lines, "user"), _readable(request, lines, "assistant")
    cast = Cast.of(request.legacy_name, own, replies)
    discourse = Discourse(cast)
    reading = _Reading(Reader(cast, discourse), Composer(cast, request.user_name), discourse)
    found: list[list[Found]] = []
    for message in request.messages:
        if message.role == "assistant":
            reading.hear(lines[message.index])
        if message.role != "user":
            continue
        discourse.next_message()
        if modality.is_instruction(message.content):
            continue
        if any(_takes_back(line) for line in lines[message.index]):
            if _is_only_retraction(lines[message.index]) and found:
                found.pop()
            continue
        for line in lines[message.index]:
            if (forgetting := _forgetting(line)) is not None:
                found = _without_forgotten(found, forgetting)
        found.append(reading.statements(message, lines[message.index]))
    return [statement for batch in found for statement in batch]


def _readable(request: ExtractionRequest, lines: Lines, role: str) -> list[Sequence[Token]]:
    messages = [message for message in request.messages if message.role == role]
    return [line.tokens for message in messages for line in lines[message.index] if line.readable]


def _forgetting(line: Line) -> Forgetting | None:
    return find_forgetting(line.tokens) if line.readable else None


def _takes_back(line: Line) -> bool:
    """Whether a line takes back what was said with it or just before, without saying what."""
    forgetting = _forgetting(line)
    return modality.is_retraction(line.sentence.text) if forgetting is None else not forgetting.tokens


def _without_forgotten(found: list[list[Found]], forgetting: Forgetting) -> list[list[Found]]:
    told = {one.statement.content: one.statement for group in found for one in group}
    gone = {statement.content for statement in meant(forgetting, list(told.values()))}
    return [[one for one in group if one.statement.content not in gone] for group in found]


def _is_only_retraction(lines: Sequence[Line]) -> bool:
    """Whether a message says no more than "never mind", and so speaks of the message before it."""
    return sum(len(line.sentence.text.split()) for line in lines) <= 8


class _Reading:
    def __init__(self, reader: Reader, composer: Composer, discourse: Discourse) -> None:
        self.reader = reader
        self.composer = composer
        self.discourse = discourse
        self.cast = reader.cast

    def hear(self, lines: Sequence[Line]) -> None:
        """Take in whom the other side names: a later "she" may mean them."""
        for line in lines:
            if not line.readable:
                continue
            mentions = self.cast.mentions(line.tokens, my="your")
            self.discourse.heard(None, [mention.person for mention in mentions])

    def statements(self, message: Utterance, lines: Sequence[Line]) -> list[Found]:
        """List what one message states."""
        done: list[list[Found]] = []
        for line in lines:
            if not line.readable:
                done.append([])
                continue
            forgetting = find_forgetting(line.tokens)
            request = find_request(line.tokens)
            if forgetting is not None:
                done = _without_forgotten(done, forgetting)
                done.append(list(self._told(message, forgetting.rest)))
            elif request is None:
                if modality.is_doubt(line.tokens) and done:
                    done[-1] = []
                done.append(list(self._told(message, line.tokens)))
            elif not request.tokens:
                # "Remember that." speaks of the sentence before it.
                done[-1:] = [[replace(one, explicit=True) for one in group] for group in done[-1:]]
            else:
                done.append(self._asked(message, request))
        return [found for group in done for found in group]

    def _told(self, message: Utterance, tokens: Sequence[Token]) -> Iterator[Found]:
        for clause_tokens in modality.stated_clauses(tokens):
            clause = self.reader.read(clause_tokens)
            mentioned = [mention.person for mention in self.cast.mentions(clause_tokens)]
            meant = self._owner(clause_tokens)
            statement = self.composer.compose(clause, message.at) if clause is not None else None
            statement = statement or self.composer.favourite(clause_tokens, message.at, meant)
            if statement is not None:
                yield _found(message, statement)
            person = clause.subject.person if clause is not None and not clause.subject.thing else None
            self.discourse.heard(person, [other for other in mentioned if other != person])

    def _owner(self, tokens: Sequence[Token]) -> Person | None:
        """Whom the first "his" or "her" of a clause means."""
        return next((self.discourse.resolve(token.low) for token in tokens if token.low in {"his", "her"}), None)

    def _asked(self, message: Utterance, request: Request) -> list[Found]:
        if request.order:
            statement = self.composer.order(request.tokens, message.at)
            return [replace(_found(message, statement), explicit=True)] if statement else []
        answers = [token for token in request.tokens if token.low != "?"]
        found: list[Found] = []
        for clause_tokens in modality.stated_clauses(answers):
            clause = self.reader.read(clause_tokens)
            if clause is None:
                statement = self.composer.verbatim(clause_tokens, message.at)
            else:
                statement = self.composer.compose(clause, message.at) or self.composer.as_asked(clause, message.at)
            if statement is not None:
                found.append(replace(_found(message, statement), explicit=True))
        return found


def _found(message: Utterance, statement: Statement) -> Found:
    return Found(statement, message.index, message.content[statement.start : statement.end].strip(" ,;-"))
