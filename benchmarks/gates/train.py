"""Train the vector classifiers: ``python -m benchmarks.gates.train`` writes the weights of gates and likeness.

The training texts are in this folder, one per line: instructions to a model, secrets, ordinary sentences, everyday
instructions to people, values of a person's fields, what an assistant asks, and statements with a paraphrase and a
different statement. The tests' training sets are added. ``--check`` writes nothing and prints the cross-validated
results (folds of neighbouring lines) for the texts of this folder.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import yaml

from benchmarks.lines import labelled_lines, lines, sections
from language.base import Vectors
from language.embedders.e5.embedder import BundledEmbedder
from language.gates.judging import FIELDS, KINDS, WEIGHTS, Layers, scores
from language.likeness import WEIGHTS as LIKENESS
from language.likeness import Frame, frame_of, likeness, traits_of_pair
from language.reading.refusals.judged import FEATURES, features, pieces
from language.reading.refusals.judged import WEIGHTS as REFUSALS
from language.reading.refusals.offers import ASKING
from language.reading.sentences import split_sentences
from tests.language.gates.labelled import labelled
from tests.memories import duplicates, last_pairs, later_pairs, other_pairs, said_of_user
from tests.memories import pairs as of_memories
from tests.statements import resembling

HERE = Path(__file__).parent
HIDDEN, SEEDS, EPOCHS, BATCH, STEP = 24, 6, 40, 256, 3e-3
WEIGHT_DECAY, DROPPED = 1e-3, 0.1
FOLDS = 6
ANSWERS = ("neither", "points", "no", "asks")
"""The kinds of lines in ``refusals.txt``."""
OTHERS = (("Henry", "his"), ("Rosa Delgado", "her"), ("Grandpa Luis", "his"), ("Otto", "his"), ("Aunt Ming", "her"))


class Texts(NamedTuple):
    """Texts with their class numbers; ``own`` marks those of this folder."""

    texts: list[str]
    classes: list[int]
    own: list[bool]


def kinds() -> Texts:
    """Load ordinary sentences, instructions to a model, and secrets."""
    rounds = [labelled(name) for name in ("made_from", *(f"round_{number}" for number in (*range(1, 11), 12)))]
    instructions, sensitive, unseen = labelled("instructions"), labelled("sensitive"), labelled("unseen")
    told = [
        *(text for texts in rounds for text in texts.get("ordinary", ())),
        *instructions["passed"],
        *sensitive["passed"],
        *unseen["sensitive"]["must_pass"],
        *unseen["instructions"]["must_pass"],
        *(text for text, _ in chain(*said_of_user.RECOGNISED, said_of_user.NETWORK)),
        *_pairs(),
    ]
    orders = [*(text for texts in rounds for text in texts["hostile"]), *instructions["held_back"]]
    orders += unseen["instructions"]["must_hold_back"]
    secret = [*(text for texts in rounds for text in texts.get("secret", ())), *unseen["sensitive"]["must_refuse"]]
    secret += sensitive["refused"]["password or code"]
    # The texts of plain.txt contain the words of instructions; some of them give a field.
    ordinary = [*lines("gates/ordinary.txt"), *lines("gates/everyday.txt"), *lines("gates/plain.txt")]
    own = [ordinary, lines("gates/orders.txt"), lines("gates/secrets.txt")]
    return _together([told, orders, secret], own)


def fields() -> Texts:
    """Load texts that give a field of a person, and texts that give none."""
    own = labelled_lines("gates/fields.tsv")
    of_tests: list[list[str]] = [[] for _ in FIELDS]
    of_tests[0] = [*lines("gates/ordinary.txt"), *lines("gates/everyday.txt")]
    mine: list[list[str]] = [[] for _ in FIELDS]
    for text, field in chain(*said_of_user.RECOGNISED, *said_of_user.JUDGED):
        of_tests[FIELDS.index(field)].append(text)
    for field, text in own:
        mine[FIELDS.index(field.strip("-"))].append(text)
    return _together(of_tests, mine)


def steps() -> Texts:
    """Load steps of procedures, ordinary ones (0) and such as would harm or deceive somebody or set rules aside (1).

    Each line of this folder's file is a procedure; its hostile steps begin with "!".
    """
    own: list[list[str]] = [[], []]
    for line in lines("gates/steps.txt"):
        for step in line.split(" / "):
            own[step.startswith("!")].append(step.removeprefix("!"))
    return _together([], own)


def pairs() -> tuple[list[tuple[str, str]], list[int]]:
    """Load pairs of a rejected and another statement, with label 1 if they say the same, else 0.

    Each line of this folder's file has a statement, a paraphrase, and a different statement with shared words.
    """
    own = labelled_lines("gates/pairs.tsv")
    same = [(one, other) for one, other, _ in own]
    same += chain(resembling.PARAPHRASES, resembling.UNSEEN_PARAPHRASES)
    for rejected in (resembling.REJECTED, resembling.UNSEEN_REJECTED):
        same += ((one, other) for one, others in rejected.items() for other in others)
    apart = [(each, last) for *both, last in own for each in both]
    apart += chain(resembling.NEAR, resembling.UNSEEN_NEAR)
    for sets in (of_memories, other_pairs, later_pairs, last_pairs, duplicates):
        for name, found in vars(sets).items():
            told = chain(*found.values()) if isinstance(found, dict) else found
            if name in {"SAME", "SAME_FIELDS", "DUPLICATES", "UNSEEN_DUPLICATES"}:
                same += told
            elif name in {"APART", "UNSEEN_APART", "RELATED", "FIELDS"}:
                apart += told
    return [*same, *same, *apart], [1] * 2 * len(same) + [0] * len(apart)


def refusals() -> Texts:
    """Load refusals, negative answers to the question whether to keep something, and ordinary messages."""
    told_by = sections("gates/refusals.txt")
    own = [told_by[kind] for kind in ANSWERS]
    own[0] += [answer for _, question, answer in labelled_lines("gates/answers.tsv") if not question]
    for label, _, said in labelled_lines("gates/dialogues.tsv"):
        if len(list(split_sentences(said))) == 1:  # Of others it is not known which sentence refuses.
            own[ANSWERS.index("points" if label == "no" else "neither")].append(said)
    groups = yaml.safe_load((HERE.parent.parent / "tests/language/refusals.yaml").read_text(encoding="utf-8"))
    told = [part for line in lines("gates/talk.txt") for part in _parts(line)]
    of_tests: list[list[str]] = [told, [], [], []]
    for case in (case for group in groups for case in group["cases"]):
        *before, last = case
        told += [part for said in before if said[:6] != "guide>" for part in _parts(said.removeprefix("held> "))]
        if "{" not in str(case):
            told += _parts(last)
        elif "{" not in last:
            of_tests[2 if before and ASKING.search(before[-1]) else 1].append(last)
    return _together([list(dict.fromkeys(texts)) for texts in of_tests], own)


def asking() -> Texts:
    """Load what an assistant says that asks or announces to keep something (1), and what else is said (0)."""
    said, told = sections("gates/asking.txt"), sections("gates/refusals.txt")
    return _together([told["neither"], told["asks"]], [said["neither"], said["asks"]])


def _parts(said: str) -> list[str]:
    """Return the parts of a text that are classified: its sentences and clauses."""
    line = said.translate({ord(brace): None for brace in "{}"})
    return [line[start:end] for sentence in split_sentences(line) for start, end in pieces(sentence)]


def by_words(given: Texts, *wanted: int) -> tuple[Vectors, Vectors]:
    """Fit a linear model over word unigrams and bigrams that predicts the wanted classes, with Adam."""
    rows = np.zeros((len(given.texts), FEATURES), dtype=np.float32)
    for row, text in zip(rows, given.texts, strict=True):
        places = features(text)
        row[places] = len(places) ** -0.5
    rows = np.concatenate([rows, np.ones((len(rows), 1), dtype=np.float32)], axis=1)
    meant = np.isin(given.classes, wanted)
    weights, first, second = (np.zeros(FEATURES + 1, dtype=np.float32) for _ in range(3))
    for step in range(1, 401):
        slope = rows.T @ (1 / (1 + np.exp(-(rows @ weights))) - meant) / len(rows) + 1e-4 * weights
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        weights -= 0.1 * first / (1 - 0.9**step) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights[:-1], weights[-1]


def seen_from(embedder: BundledEmbedder) -> Frame:
    """Return the reference frame of ordinary sentences, some of them repeated about other people."""
    ordinary = lines("gates/ordinary.txt")
    own = [line for line in ordinary if line.startswith("The user")]
    for start, (name, their) in enumerate(OTHERS):
        of_another = (line.replace("The user", name).replace(" their ", f" {their} ") for line in own[start % 2 :: 2])
        ordinary += of_another
    return frame_of(embedder.embed_passages(ordinary))


def paired(embedder: BundledEmbedder, frame: Frame) -> dict[str, Vectors]:
    """Train the network that decides whether a statement means the same as a rejected one."""
    told, same = pairs()
    rows = []
    for rejected, said in told:
        one, other = embedder.embed_passages([rejected, said])
        rows.append(traits_of_pair(rejected, said, float(one @ other), likeness(one, other, frame)))
    layers = train(np.array(rows, dtype=np.float32), same, 2)
    return {f"pair_{part}": value for part, value in layers._asdict().items()}


def _pairs() -> Iterable[str]:
    sets = (resembling.PARAPHRASES, resembling.NEAR, resembling.UNSEEN_PARAPHRASES, resembling.UNSEEN_NEAR)
    return dict.fromkeys(text for pairs in sets for pair in pairs for text in pair)


def _together(others: Sequence[Sequence[str]], own: Sequence[Sequence[str]]) -> Texts:
    made = Texts([], [], [])
    for is_own, groups in ((False, others), (True, own)):
        for number, texts in enumerate(groups):
            for text in texts:
                made.texts.append(text)
                made.classes.append(number)
                made.own.append(is_own)
    return made


def train(vectors: Vectors, classes: Sequence[int], count: int, seeds: int = SEEDS) -> Layers:
    """Fit an ensemble of small networks with different seeds, joined into one network that returns their mean."""
    mean, spread = vectors.mean(axis=0), vectors.std(axis=0) + 1e-6
    scaled = (vectors - mean) / spread
    wanted = np.eye(count, dtype=np.float32)[list(classes)]
    parts = [_fit(scaled, wanted, np.random.default_rng(seed)) for seed in range(seeds)]
    hidden = np.concatenate([part[0] for part in parts], axis=1) / spread[:, None]
    hidden_bias = np.concatenate([part[1] for part in parts]) - mean @ hidden
    out = np.concatenate([part[2] for part in parts]) * np.float32(1 / seeds)
    out_bias = np.stack([part[3] for part in parts]).mean(axis=0, dtype=np.float32)
    return Layers(hidden, hidden_bias, out, out_bias)


def _fit(scaled: Vectors, wanted: Vectors, random: np.random.Generator) -> list[Vectors]:
    """Fit one network with Adam on cross entropy."""
    width = scaled.shape[1]
    weights = [
        random.normal(0, width**-0.5, (width, HIDDEN)).astype(np.float32),
        np.zeros(HIDDEN, np.float32),
        random.normal(0, HIDDEN**-0.5, (HIDDEN, wanted.shape[1])).astype(np.float32),
        np.zeros(wanted.shape[1], np.float32),
    ]
    first, second = ([np.zeros_like(each) for each in weights] for _ in range(2))
    step = 0
    for _ in range(EPOCHS):
        order = random.permutation(len(scaled))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            seen = scaled[rows] * (random.random((len(rows), width)) > DROPPED)
            inner = np.tanh(seen @ weights[0] + weights[1])
            error = (_shares(inner @ weights[2] + weights[3]) - wanted[rows]) / len(rows)
            back = (error @ weights[2].T) * (1 - inner**2)
            slopes = [
                seen.T @ back + WEIGHT_DECAY * weights[0],
                back.sum(axis=0),
                inner.T @ error + WEIGHT_DECAY * weights[2],
                error.sum(axis=0),
            ]
            step += 1
            for number, slope in enumerate(slopes):
                first[number] = 0.9 * first[number] + 0.1 * slope
                second[number] = 0.999 * second[number] + 0.001 * slope**2
                rate = np.sqrt(second[number] / (1 - 0.999**step)) + 1e-8
                weights[number] -= STEP * first[number] / (1 - 0.9**step) / rate
    return weights


def _shares(values: Vectors) -> Vectors:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def check(given: Texts, vectors: Vectors, names: Sequence[str]) -> None:
    """Print the cross-validated results for the texts of this folder."""
    classes, own = np.array(given.classes), np.array(given.own)
    place = np.array([number // 10 % FOLDS for number in range(len(classes))])
    judged = np.zeros((len(classes), len(names)), dtype=np.float32)
    for fold in range(FOLDS):
        out = own & (place == fold)
        layers = train(vectors[~out], classes[~out].tolist(), len(names))
        judged[out] = [scores(layers, vector) for vector in vectors[out]]
    none = own & (classes == 0)
    for number, name in enumerate(names[1:], start=1):
        margin = judged[:, number] - judged[:, 0]
        for least in (-1, 0, 1, 2, 3, 4):
            found = (margin[own & (classes == number)] >= least).mean()
            wrongly = (margin[none] >= least).mean()
            print(f"{name:16} margin {least:2}: {found:.3f} found, {wrongly:.3f} wrongly")


def _network(
    name: str, said: Texts, names: Sequence[str], worth: Sequence[int], embedder: BundledEmbedder, *, only_check: bool
) -> dict[str, Vectors]:
    """Return a network over texts, and the linear model that preselects those ``worth`` it; or print its check."""
    read = np.concatenate(embedder.read_passages(said.texts), axis=1)
    if only_check:
        check(said, read, names)
        return {}
    weights, bias = by_words(said, *worth)
    made = {**train(read, said.classes, len(names))._asdict(), "words": weights, "words_bias": bias}
    return _halved({f"{name}{part}": value for part, value in made.items()})


def _halved(values: Mapping[str, Vectors]) -> dict[str, Vectors]:
    """Return arrays in the half precision in which they are stored."""
    return {name: value.astype(np.float16) for name, value in values.items()}


def main() -> None:
    """Train on all texts and write the weights, or check."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--refusals", action="store_true", help="only what hears a person's no")
    parser.add_argument("--kinds", action="store_true", help="only orders and secrets; the other weights stay")
    parser.add_argument("--steps", action="store_true", help="only the steps of procedures; the other weights stay")
    parser.add_argument("--fields", action="store_true", help="only the personal fields; the other weights stay")
    given = parser.parse_args()
    only_check = given.check
    embedder = BundledEmbedder()
    if given.refusals:
        heard = _network("asks_", asking(), ("", "asks"), (1,), embedder, only_check=only_check)
        if not only_check:
            weights, bias = by_words(refusals(), ANSWERS.index("points"), ANSWERS.index("no"))
            heard |= _halved({"words": weights, "words_bias": bias})
            np.savez_compressed(REFUSALS, allow_pickle=False, **heard)
        return
    made: dict[str, Vectors] = {}
    if given.kinds or given.steps or given.fields:
        with np.load(WEIGHTS, allow_pickle=False) as stored:
            made |= stored
    sets: list[tuple[str, Sequence[str], Callable[[], Texts]]] = [
        ("kind", KINDS, kinds),
        ("step", ("ordinary", "hostile"), steps),
        ("field", FIELDS, fields),
    ]
    wanted = [each for each in sets if getattr(given, f"{each[0]}s")] or sets
    for name, names, gather in wanted:
        texts = gather()
        vectors, traits = embedder.read_passages(texts.texts)
        print(name, len(texts.texts), "texts")
        for called, read in ((name, np.concatenate([vectors, traits], axis=1)), (f"{name}_by_vector", vectors)):
            if only_check:
                check(texts, read, names)
            layers = train(read, texts.classes, len(names))
            made |= {f"{called}_{part}": value for part, value in _halved(layers._asdict()).items()}
    if not only_check:
        np.savez_compressed(WEIGHTS, allow_pickle=False, **made)
    if not (only_check or given.kinds or given.steps or given.fields):
        frame = _halved(seen_from(embedder)._asdict())
        np.savez_compressed(LIKENESS, allow_pickle=False, **frame, **paired(embedder, Frame(**frame)))


if __name__ == "__main__":
    main()
