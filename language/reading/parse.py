"""Dependency parses of English text.

spaCy's small English pipeline is loaded as data from an installed package's folder; no code of that package runs. The
results are plain records, and no text is retained in spaCy's string store.
"""

from __future__ import annotations

import os
import re
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import structlog
from django.conf import settings

from language.brief_caches import emptied_briefly, note_kept
from language.reading.lexicon import is_adjective
from language.reading.pipeline import load

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

log = structlog.get_logger(__name__)

MOST_CHARACTERS = 32_000
"""Characters read of a text; the rest is ignored. A message has no more."""

MOST_WORDS = 200
"""Tokens of a sentence. A longer one is not prose, and its tree may be too deep to walk."""

_BATCH_SIZE = 16
"""Texts per parser batch; other threads wait for the lock meanwhile."""

NOUN_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
"""The dependencies of subjects that are nouns or pronouns."""
MOST_KEPT, LONGEST_KEPT = 256, 300
"""Number and length of the latest texts whose parses are kept: each message is compared with the same memories."""

_ENDLESS = re.compile(r"\S{200,}")
"""Runs that no sentence has. The tokenizer's time is quadratic in them."""

_SIBILANT = re.compile(r"(?:[sxzo]|ch|sh)$")
_DOUBLED = re.compile(r"^[^aeiou]*[aeiou][^aeiouwxy]$")
"""Verbs that double their last letter before "-ed" and "-ing"."""


@dataclass(frozen=True, slots=True)
class Word:
    """One token. ``start`` and ``end`` are character positions in the text, ``head`` and ``index`` token indices.

    ``pos`` is the universal part of speech (``VERB``), ``tag`` the Penn Treebank's (``VBD``), ``dep`` the dependency
    relation of spaCy's English pipelines (``nsubj``); a sentence's root is its own head. ``entity`` is the type of the
    named entity it belongs to (``PERSON``) or empty. ``morph`` has features such as ``Tense=Past``.
    """

    index: int
    text: str
    low: str
    lemma: str
    pos: str
    tag: str
    dep: str
    head: int
    start: int
    end: int
    entity: str
    morph: frozenset[str]


@dataclass(frozen=True)
class Parsed:
    """A text with its tokens. ``sentences`` are half-open ranges of token indices; none is over ``MOST_WORDS``."""

    text: str
    words: tuple[Word, ...]
    sentences: tuple[tuple[int, int], ...]

    @cached_property
    def _by_head(self) -> dict[int, list[Word]]:
        found: dict[int, list[Word]] = {}
        for word in self.words:
            if word.head != word.index:
                found.setdefault(word.head, []).append(word)
        return found

    @cached_property
    def root(self) -> Word | None:
        """The root of the first sentence; None without words."""
        return next((word for word in self.words if word.head == word.index), None)

    def children(self, word: Word) -> Sequence[Word]:
        """The token's direct dependents, in text order."""
        return self._by_head.get(word.index, ())

    def child(self, word: Word, *deps: str) -> Word | None:
        """The first direct dependent with one of these relations."""
        return next((each for each in self.children(word) if each.dep in deps), None)

    def subtree(self, word: Word) -> list[Word]:
        """The token and all its descendants, in text order."""
        found, waiting = [], [word]
        while waiting:
            each = waiting.pop()
            found.append(each)
            waiting += self.children(each)
        return sorted(found, key=lambda each: each.index)

    def head(self, word: Word) -> Word:
        """The token's head; a root is its own."""
        return self.words[word.head]

    def each_sentence(self) -> Iterator[Sequence[Word]]:
        """Yield each sentence's tokens."""
        for start, end in self.sentences:
            yield self.words[start:end]


_lock = threading.Lock()
_pipelines: dict[str, Language] = {}
_recent: OrderedDict[tuple[str, str, bool], Parsed] = OrderedDict()
"""The latest parses by pipeline, text and whether with names, the most recently used last. Under the lock."""


@emptied_briefly
def _forget() -> None:
    with _lock:
        _recent.clear()


def parse(text: str, *, names: bool = True) -> Parsed | None:
    """Parse a text, cut at ``MOST_CHARACTERS``. Return None if the parser fails, which is logged without the text.

    ``names=False`` skips named entities, which halves the time.

    Raises ImproperlyConfigured if the pipeline of ``KEEPSAKE_READING_MODEL`` is not installed.
    """
    text = text[:MOST_CHARACTERS]
    with _lock:
        pipeline = _pipeline()
        known = _recall(text, names=names)
        if known is not None:
            return known
        try:
            # Strings that the pipeline interns are freed with the zone: no personal text stays in it.
            with pipeline.memory_zone():
                return _keep(_parse_one(pipeline, text, names=names), names=names)
        except Exception as error:  # noqa: BLE001 - whatever a parser may raise on somebody's text.
            log.warning("reading_failed", error=type(error).__name__, characters=len(text))
            return None


def parse_each(texts: Sequence[str], *, names: bool = True) -> list[Parsed | None]:
    """Parse texts as ``parse`` does, in batches: in a batch of eight, each takes less than half the time.

    Raises ImproperlyConfigured if the pipeline of ``KEEPSAKE_READING_MODEL`` is not installed.
    """
    cut = [text[:MOST_CHARACTERS] for text in texts]
    with _lock:
        found = {text: known for text in cut if (known := _recall(text, names=names)) is not None}
    waiting = [text for text in dict.fromkeys(cut) if text not in found]
    for first in range(0, len(waiting), _BATCH_SIZE):
        batch = waiting[first : first + _BATCH_SIZE]
        found |= {
            text: each for text, each in zip(batch, _parse_batch(batch, names=names), strict=True) if each is not None
        }
    return [found.get(text) for text in cut]


def _parse_batch(texts: Sequence[str], *, names: bool) -> Sequence[Parsed | None]:
    with _lock:
        pipeline = _pipeline()
        try:
            with pipeline.memory_zone():
                plain = [_without_endless(text) for text in texts]
                docs = pipeline.pipe(plain, batch_size=_BATCH_SIZE, disable=[] if names else ["ner"])
                return [_keep(_as_records(text, doc), names=names) for text, doc in zip(texts, docs, strict=True)]
        except Exception:  # noqa: BLE001 - parsed one by one below, which isolates the text that fails.
            log.info("reading_together_failed", texts=len(texts))
    return [parse(text, names=names) for text in texts]


def _recall(text: str, *, names: bool) -> Parsed | None:
    """The kept parse of a text, maybe with names although they are not needed. The caller holds the lock."""
    for key in ((settings.KEEPSAKE_READING_MODEL, text, kept) for kept in {names, True}):
        if key in _recent:
            _recent.move_to_end(key)
            return _recent[key]
    return None


def _keep(parsed: Parsed, *, names: bool) -> Parsed:
    """Keep a parse in place of the one that was not used for longest. The caller holds the lock."""
    if len(parsed.text) <= LONGEST_KEPT:
        note_kept()
        _recent[settings.KEEPSAKE_READING_MODEL, parsed.text, names] = parsed
        if len(_recent) > MOST_KEPT:
            _recent.popitem(last=False)
    return parsed


def preload_reading() -> None:
    """Load the pipeline before the first message, and before a fork, so that processes share it.

    Raises ImproperlyConfigured if it is not installed.
    """
    with _lock:
        _pipeline()


def irregular(word: str) -> str:
    """The lemma of an irregular verb or noun in lower case ("meet" of "met"); other words unchanged."""
    return next((forms[word][0] for forms in _irregular() if word in forms), word)


def irregular_forms(lemma: str) -> frozenset[str]:
    """The irregular forms of a verb or noun: "shot" of "shoot"; none of a regular one."""
    return frozenset(form for forms in _irregular() for form, found in forms.items() if found[0] == lemma)


def _irregular() -> Sequence[Mapping[str, Sequence[str]]]:
    return _irregular_of(settings.KEEPSAKE_READING_MODEL)


@lru_cache(maxsize=1)
def _irregular_of(_model: str) -> Sequence[Mapping[str, Sequence[str]]]:
    """The lemmas of irregular verbs, and of nouns, by form. Kept, since a parse elsewhere holds the lock."""
    with _lock:
        lemmatizer: Any = _pipeline().get_pipe("lemmatizer")
    forms = lemmatizer.lookups.get_table("lemma_exc", {})
    return [forms.get(kind, {}) for kind in ("verb", "noun")]


def _parse_one(pipeline: Language, text: str, *, names: bool) -> Parsed:
    doc = pipeline.make_doc(_without_endless(text))
    for name, part in pipeline.pipeline:
        if names or name != "ner":
            doc = part(doc)
    return _as_records(text, doc)


def _without_endless(text: str) -> str:
    return _ENDLESS.sub(lambda run: " " * len(run[0]), text)


def _lemma_of_verb(form: str, lemma: str) -> str:
    """Return "hope" for "hopes", "hoped" and "hoping", of which the pipeline makes "hop"."""
    if form == f"{lemma}es" and not _SIBILANT.search(lemma):
        return f"{lemma}e"
    return f"{lemma}e" if form in {f"{lemma}ed", f"{lemma}ing"} and _DOUBLED.search(lemma) else lemma


def _as_records(text: str, doc: Doc) -> Parsed:
    words = tuple(
        Word(
            each.i,
            each.text,
            each.lower_,
            _lemma_of_verb(each.lower_, each.lemma_) if each.pos_ == "VERB" else each.lemma_,
            each.pos_,
            each.tag_,
            each.dep_,
            each.head.i,
            each.idx,
            each.idx + len(each.text),
            each.ent_type_,
            frozenset(str(each.morph).split("|")) - {""},
        )
        for each in doc
    )
    sentences = tuple((each.start, each.end) for each in doc.sents if len(each) <= MOST_WORDS)
    return Parsed(text, tuple(_fix_misparses(words)), sentences)


def _fix_misparses(words: Sequence[Word]) -> list[Word]:
    """The tokens with the pipeline's frequent misparses fixed."""
    mended = list(words)
    for word in words:
        head = words[word.head]
        if word.dep == "nsubj" and head.dep == "auxpass":  # "Tom is engaged": attach the subject to the participle.
            mended[word.index] = replace(word, head=head.head)
        if word.dep == "auxpass" and head.tag == "JJ" and word.lemma == "be":  # "We were married on the 14th."
            mended[head.index] = replace(head, pos="VERB", tag="VBN")
        had = word.low == "back" and head.lemma in {"have", "get"}
        if had and any(each.dep == "det" for each in words if each.head == word.index):
            mended[word.index] = replace(word, pos="NOUN", tag="NN", dep="dobj")  # "I've got a bad back."
        said = words[head.head]
        if word.tag == "POS" and head.dep in {"poss", "nsubj"} and _is_said_of(said):  # "My husband's Turkish."
            above = word.index if said.head == said.index else said.head
            mended[word.index] = replace(word, pos="AUX", tag="VBZ", lemma="be", dep=said.dep, head=above)
            mended[head.index] = replace(head, dep="nsubj", head=word.index)
            mended[said.index] = replace(said, dep="acomp", head=word.index)
        if word.low == "her" and word.dep == "nsubj" and head.dep == "dobj" and head.index == word.index + 1:
            mended[word.index] = replace(word, tag="PRP$", dep="poss")  # "I have her rosary."
            mended[head.index] = replace(head, pos="NOUN", tag="NN")
        if head.head == head.index and head.low == "like" and head.tag == "IN" and word.dep == "nsubj":
            mended[head.index] = replace(head, pos="VERB", tag="VBP", lemma="like")
            for each in words:
                if each.head == head.index and each.dep == "pobj":
                    mended[each.index] = replace(each, dep="dobj")
    sentences: dict[int, list[Word]] = {word.index: [] for word in words if word.head == word.index}
    for word in words:
        _part_coordinated(mended, word)
        sentences[_root(words, word)].append(word)
    for root, sentence in sentences.items():
        if mended[root].pos in {"NOUN", "PROPN", "ADJ"}:
            _retag_noun_as_verb(mended, sentence, root)
    return mended


def _part_coordinated(words: list[Word], verb: Word) -> None:
    """Attach a coordinated clause to the clause before: "Mieke works in Haarlem and [Joost works in Delft]"."""
    verb = words[verb.index]
    if verb.tag not in {"VBZ", "VBD", "VBP"} or verb.index < 3:
        return
    named = words[verb.index - 1]
    has_subject = any(each.head == verb.index and each.dep == "nsubj" for each in words)
    joined = words[named.head if named.dep == "conj" and not has_subject else verb.head]
    main = joined
    while main.tag not in {"VBZ", "VBD", "VBP"} and main.head not in {main.index, verb.index}:
        main = words[main.head]
    if main.head == verb.index:
        main = next((each for each in words[: named.index] if each.tag in {"VBZ", "VBD", "VBP"}), main)
    if main.tag not in {"VBZ", "VBD", "VBP"} or main.index >= min(joined.index, verb.index):
        return
    if has_subject and verb.dep == "conj" and joined.pos not in {"VERB", "AUX"}:
        words[verb.index] = replace(verb, head=main.index)  # "My sister's Catholic and my brother's allergic."
    elif not has_subject and named.dep == "conj" and named.pos == "PROPN" and named.head < named.index:
        if joined.head == verb.index:
            words[joined.index] = replace(joined, dep=verb.dep, head=verb.head)
        words[named.index] = replace(named, dep="nsubj", head=verb.index)
        words[verb.index] = replace(verb, pos="VERB", dep="conj", head=main.index)


def _is_said_of(word: Word) -> bool:
    if word.tag == "JJ":
        return word.dep in {"ROOT", "advcl", "ccomp", "conj"}
    return word.head == word.index and word.tag in {"NN", "NNP"} and is_adjective(word.low)


def _root(words: Sequence[Word], word: Word) -> int:
    while word.head != word.index:
        word = words[word.head]
    return word.index


def _retag_noun_as_verb(words: list[Word], sentence: Sequence[Word], root: int) -> None:
    """Retag a noun as the verb where a sentence has none: "my partner works nights"."""
    having = next((each for each in sentence if each.head == root and each.dep == "aux" and each.lemma == "have"), None)
    if having is not None:  # "Filip has epilepsy."
        for each in sentence:
            is_own = each.index < having.index or each.dep in {"punct", "parataxis", "advcl", "ccomp"}
            if each.head == root and each.index != root and is_own:
                words[each.index] = replace(each, head=having.index)
        words[having.index] = replace(having, pos="VERB", dep="ROOT", head=having.index)
        words[root] = replace(words[root], dep="dobj", head=having.index)
        return
    own = {each.dep for each in sentence if each.head == root}
    if words[root].tag == "NNS" and own >= {"nsubj", "dobj"}:  # "One of them, Darcy, rents the land and lives there."
        words[root] = replace(words[root], pos="VERB", tag="VBZ")
        return
    if words[root].pos == "ADJ" or any(word.tag in {"VBD", "VBZ", "VBP", "MD"} for word in sentence):
        return
    determined = False
    for before, word, after in zip(sentence, sentence[1:], sentence[2:], strict=False):
        determined = determined or before.dep in {"det", "poss"}
        named = determined or before.tag in {"NNP", "NNPS"}
        plain = before.tag in {"NN", "NNP", "NNPS"} and (before.head in {word.index, root} or before.dep == "compound")
        if not (word.tag == "NNS" and word.low.endswith("s") and named and plain) or after.dep in {"punct", "cc"}:
            continue
        verb = word.index
        words[verb] = replace(word, pos="VERB", tag="VBZ", lemma=word.lemma, dep="ROOT", head=verb)
        words[before.index] = replace(before, dep="nsubj", head=verb)
        for each in sentence:
            if each.index < before.index and each.head in {root, verb}:
                words[each.index] = replace(each, head=before.index)
            elif each.index > verb and each.head == root and each.index < root:
                words[each.index] = replace(each, head=root)
            elif each.index > verb and each.head == root and root <= verb:
                words[each.index] = replace(each, head=verb, dep="dobj" if each.dep in {"pobj", "appos"} else each.dep)
        if root > verb:
            words[root] = replace(words[root], dep="dobj", head=verb)
        return


def _pipeline() -> Language:
    """The configured pipeline, loaded on first use. The caller holds the lock."""
    name = settings.KEEPSAKE_READING_MODEL
    if name not in _pipelines:
        _pipelines[name] = load(name)
    return _pipelines[name]


# Otherwise a forked child could inherit a lock held by another thread, and wait for ever.
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)
