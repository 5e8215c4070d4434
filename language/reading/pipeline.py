"""Loads spaCy's English pipeline from an installed package's folder, as data: no code of that package runs.

Parts of it are replaced by quicker ones that compute the same, which saves a quarter of the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured

from language.reading.word_vectors import WordVectors, computes_word_vectors
from language.reading.words import ENGLISH, KIN

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.pipeline import AttributeRuler
    from spacy.tokens import Doc

NEEDED = ("tagger", "parser", "attribute_ruler", "lemmatizer", "ner")
"""The pipeline components that readers rely on."""
_READ = ("TAG", "LOWER", "DEP")
"""The attributes of a token that most rules are about."""

Match = tuple[int, int, int, int]
"""The number of a rule, its key, and the range of tokens that it is about."""


def load(name: str) -> Language:
    """Load the pipeline of that name. Raises ImproperlyConfigured if it is not installed or lacks a component."""
    folder = _folder(name)
    if folder is None:
        raise ImproperlyConfigured(f"KEEPSAKE_READING_MODEL is {name!r}, and no pipeline of that name is installed.")
    # Imported here: it takes more than a second, and most processes never parse.
    from spacy.util import load_model_from_path  # noqa: PLC0415

    pipeline = load_model_from_path(folder)
    missing = [part for part in NEEDED if part not in pipeline.pipe_names]
    if missing:
        raise ImproperlyConfigured(f"KEEPSAKE_READING_MODEL is {name!r}, which lacks {', '.join(missing)}.")
    # spaCy's stubs declare any callable here; it is a Tokenizer, a compiled class without types.
    tokenizer: Any = pipeline.tokenizer
    for word in KIN:
        if "-" in word:
            tokenizer.add_special_case(word, [{"ORTH": word}])
    pipeline.make_doc(" ".join(sorted(ENGLISH | KIN.keys())))  # Outside a memory zone, so these words are kept.
    parts: list[Any] = [part for _, part in pipeline.pipeline]
    for model in filter(None, (getattr(part, "model", None) for part in parts)):
        for layer in model.walk():
            if computes_word_vectors(layer):
                layer._func = WordVectors(layer)
    ruler: Any = pipeline.get_pipe("attribute_ruler")
    ruler.match = RuleMatches(ruler)
    return pipeline


def _folder(name: str) -> Path | None:
    """The folder of an installed pipeline package, found without importing it; None if there is none."""
    if not name.isidentifier():
        return None
    spec = find_spec(name)
    roots = [Path(root) for root in (spec and spec.submodule_search_locations) or ()]
    return next((config.parent for root in roots for config in sorted(root.glob("*/config.cfg"))), None)


class RuleMatches:
    """In place of ``AttributeRuler.match``, which tries each of 180 rules at each token.

    Nearly all rules are about one token of a certain tag or word: these are looked up by it.
    """

    def __init__(self, ruler: AttributeRuler) -> None:
        from spacy.matcher import Matcher  # noqa: PLC0415 - as in ``load``

        strings = ruler.vocab.strings
        self._numbers: dict[int, int] = {}
        self._rules: defaultdict[int, list[tuple[int, list[tuple[int, frozenset[int]]]]]] = defaultdict(list)
        self._others = Matcher(ruler.vocab)
        rules: Sequence[Mapping[str, Any]] = ruler.patterns
        for number, rule in enumerate(rules):
            key = strings[str(number)]
            self._numbers[key] = number
            for pattern in rule["patterns"]:
                conditions = _conditions(pattern)
                if not conditions:
                    self._others.add(key, [pattern])
                    continue
                needed = [(column, frozenset(map(strings.add, words))) for column, words in conditions]
                for value in needed[0][1]:
                    self._rules[value].append((key, needed))

    def __call__(self, doc: Doc) -> list[Match]:
        """Return the rules that apply, in their order: later ones have precedence."""
        found = [*self._others(doc, allow_missing=True), *self._of_tokens(doc)]
        return sorted((self._numbers[key], key, start, stop) for key, start, stop in found)

    def _of_tokens(self, doc: Doc) -> Iterator[tuple[int, int, int]]:
        for place, values in enumerate(doc.to_array([*_READ]).tolist()):
            for value in set(values[:2]):
                for key, needed in self._rules.get(value, ()):
                    if all(values[column] in allowed for column, allowed in needed):
                        yield key, place, place + 1


def _conditions(pattern: Sequence[Mapping[str, Any]]) -> list[tuple[int, Sequence[str]]]:
    """The allowed values of one token by their place in ``_READ``, of tag or word first; none if it asks for more."""
    token = pattern[0]
    if len(pattern) > 1 or not {"TAG", "LOWER"} & token.keys() or not token.keys() <= set(_READ):
        return []
    conditions = []
    for column, name in enumerate(_READ):
        value = token.get(name)
        if isinstance(value, Mapping):
            if value.keys() != {"IN"}:
                return []
            conditions.append((column, value["IN"]))
        elif value is not None:
            conditions.append((column, [value]))
    return conditions
