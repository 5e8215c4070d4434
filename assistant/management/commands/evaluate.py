"""Measure how well recall finds the messages that answer a question, and how much the built-in reading finds."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError
from psycopg_pool import PoolTimeout

from benchmarks.evaluation import (
    CachingEmbedder,
    Case,
    VectorCacheError,
    count_steps,
    duplicates,
    measure,
    measure_turns,
    parse_cases,
    reading,
    turns_as_json,
    writing,
)
from benchmarks.evaluation.figures import METRICS
from conversations.imports import ImportFileError, read_text
from journal.progress import Progress
from language.backends import get_embedder, get_model
from language.base import EmbedderUnavailable, LanguageError
from retrieval.weights import PARTS

CACHE = "evaluate-cache/vectors.sqlite3"

Measure = Callable[[Sequence[Case], CachingEmbedder, Progress], dict[str, Any]]


class Command(BaseCommand):
    """Read the file, ask its questions, print a table and write the figures."""

    help = (
        "Ask the questions of a LoCoMo or BEAM file of this installation's own search over messages, and tell how many "
        "of the messages that answer them are found. The database is left as it was. Vectors are kept in var/, so a "
        "second run is quick. With 'reading', read the conversations of a folder and print what "
        "was found, missed, and came out besides. An expected statement counts as found when one that came out for its "
        "message has 60% of its words; whether what came out besides is wrong is for a person to judge. "
        "With 'writing', have the model extract from the same folder and tell how many items have the right form. "
        "With 'duplicates', tell how many of a LoCoMo file's observations of one person say what another one says, and "
        "what consolidation makes of them without a model; of a file of pairs (FILE.tsv, lines of 'same' or 'differ' "
        "and two texts, by tabs) how many are merged without a model, with one that knows them, and with one that "
        "calls all of them the same."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("form", choices=["locomo", "beam", "reading", "writing", "duplicates"])
        parser.add_argument("file", type=Path, metavar="FILE", help="the file, or the folder of conversations to read")
        parser.add_argument(
            "--why",
            action="store_true",
            help="with 'reading': how many clauses were dropped by which reason; with 'writing': the refused items; "
            "with 'duplicates': what was merged",
        )
        parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures here as JSON")
        parser.add_argument(
            "--ablate", action="store_true", help="ask everything again without each part of the search, in turn"
        )
        parser.add_argument(
            "--turns", action="store_true", help="prepare turns in place of asking, and tell how often they look again"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the evaluation. Raises CommandError (exit code 1) when the file can't be evaluated."""
        if options["form"] == "reading":
            self._read(options["file"], why=options["why"])
            return
        if options["form"] == "writing":
            self._write(options["file"], why=options["why"])
            return
        if options["form"] == "duplicates":
            self._consolidate(options["file"], why=options["why"])
            return
        out: Path | None = options["json"]
        if out and not out.parent.is_dir():
            raise CommandError(f"{out.parent} is no directory to write {out.name} to.")
        measured = self._turns_of if options["turns"] else partial(self._answers_to, PARTS if options["ablate"] else ())
        try:
            figures = self._measure(options["form"], options["file"], measured)
        except ImportFileError as error:
            raise CommandError(f"{options['file']}: {error}") from error
        except (EmbedderUnavailable, VectorCacheError) as error:
            raise CommandError(str(error)) from error
        except (OperationalError, PoolTimeout) as error:
            raise CommandError("The database is away.") from error
        except KeyboardInterrupt:
            raise CommandError("Stopped. What was embedded is kept for the next run.", returncode=130) from None
        if options["turns"]:
            self._print_turns(figures)
        else:
            self._print(figures)
        if out:
            out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")

    def _read(self, folder: Path, *, why: bool) -> None:
        try:
            talks = [(talk, reading.judge(talk)) for talk in reading.talks_of(folder)]
        except (reading.ReadingFileError, OSError, UnicodeDecodeError) as error:
            raise CommandError(str(error)) from error
        for talk, judged in talks:
            self.stdout.write(f"{talk.name}")
            for each, said in judged.found:
                self.stdout.write(f"  found   {each.index:3}  {said}  (expected: {each.text})")
            for index, said in judged.unmatched:
                self.stdout.write(f"  besides {index:3}  {said}")
            for each in judged.missed:
                self.stdout.write(f"  missed  {each.index:3}  {each.text}")
        found, expected, besides = reading.figures([judged for _, judged in talks])
        share = 100 * found / expected if expected else 0.0
        self.stdout.write(f"Found {found} of {expected} ({share:.0f}%); {besides} came out besides.")
        if why:
            for reason, count in sum((judged.dropped for _, judged in talks), Counter[str]()).most_common():
                self.stdout.write(f"  {count:4}  {reason}")

    def _write(self, folder: Path, *, why: bool) -> None:
        try:
            found = writing.written_by(get_model(), reading.talks_of(folder))
        except (reading.ReadingFileError, LanguageError, OSError, UnicodeDecodeError) as error:
            raise CommandError(str(error)) from error
        share = 100 * found.passed / found.items if found.items else 0.0
        self.stdout.write(f"{found.passed} of {found.items} items ({share:.0f}%) of {get_model().name} pass at first.")
        for reason, count in found.reasons.most_common():
            self.stdout.write(f"  {count:4}  {reason}")
        if why:
            for content, reason in found.refused:
                self.stdout.write(f"  {content}  ({reason})")

    def _score_pairs(self, path: Path, *, why: bool) -> None:
        try:
            found = duplicates.scored(path, get_embedder())
        except (duplicates.PairsError, OSError, UnicodeDecodeError, EmbedderUnavailable) as error:
            raise CommandError(str(error)) from error
        for name, pairs in (("same", found.same), ("differ", found.apart)):
            alone, asked = found.count(pairs, asks=False), found.count(pairs, asks=True)
            knowing = asked if name == "same" else alone
            self.stdout.write(
                f"{name}: {len(pairs)} pairs, {alone} merged without a model, {knowing} with one that knows them, "
                f"{asked} with one that calls all the same"
            )
        self.stdout.write(f"{found.milliseconds:.0f} ms of processor time a pair")
        for pair in found.same if why else ():
            if pair not in found.merged:
                self.stdout.write(f"  {'left' if pair in found.asked else 'lost'}  {pair[0]}  |  {pair[1]}")
        for pair in found.apart if why else ():
            if pair in found.merged | found.asked:
                self.stdout.write(f"  {'WRONG' if pair in found.merged else 'asked'}  {pair[0]}  |  {pair[1]}")

    def _consolidate(self, path: Path, *, why: bool) -> None:
        if path.suffix == ".tsv":
            self._score_pairs(path, why=why)
            return
        try:
            found = [duplicates.consolidated(told, get_embedder()) for told in duplicates.observed(read_text(path))]
        except ImportFileError as error:
            raise CommandError(f"{path}: {error}") from error
        except EmbedderUnavailable as error:
            raise CommandError(str(error)) from error
        for each in found:
            self.stdout.write(
                f"{each.told.conversation} {each.told.person}: {len(each.told.statements)} statements, "
                f"{each.near} near pairs, {len(each.merged)} merged, {each.left} left, "
                f"{len(each.asked)} for a model in {each.calls} calls a day"
            )
            for kept, dropped in each.merged if why else ():
                self.stdout.write(f"  {kept}  <-  {dropped}")
        total = sum(len(each.told.statements) for each in found)
        merged, left = sum(len(each.merged) for each in found), sum(each.left for each in found)
        self.stdout.write(f"{merged + left} of {total} statements are told twice; after consolidation {left}.")

    def _measure(self, form: str, path: Path, measured: Measure) -> dict[str, Any]:
        cases = parse_cases(form, read_text(path))
        with (
            closing(CachingEmbedder(get_embedder(), settings.VAR_DIR / CACHE)) as embedder,
            Progress("Evaluating", count_steps(cases), self.stderr) as progress,
        ):
            return measured(cases, embedder, progress)

    def _answers_to(
        self, ablate: Collection[str], cases: Sequence[Case], embedder: CachingEmbedder, progress: Progress
    ) -> dict[str, Any]:
        return measure(cases, embedder, ablate=ablate, progress=progress.advance).as_json()

    def _turns_of(self, cases: Sequence[Case], embedder: CachingEmbedder, progress: Progress) -> dict[str, Any]:
        return turns_as_json(measure_turns(cases, embedder, progress=progress.advance))

    def _print(self, figures: dict[str, Any]) -> None:
        """Print percentages, a line a group, and the half width of each overall interval."""
        rows = {"overall": {**figures["overall"], "questions": figures["questions"]}, **figures["categories"]}
        width = max(map(len, rows))
        self.stdout.write(f"{'%':<{width}}  {'n':>5}  " + "  ".join(f"{name:>9}" for name in METRICS))
        for name, row in rows.items():
            cells = "  ".join(f"{100 * row[metric]:9.1f}" for metric in METRICS)
            self.stdout.write(f"{name:<{width}}  {row['questions']:5}  {cells}")
            if name == "overall":
                intervals = (figures["intervals"][metric] for metric in METRICS)
                halves = "  ".join(f"{f'±{50 * (high - low):.1f}':>9}" for low, high in intervals)
                self.stdout.write(f"{'  95%':<{width}}  {'':5}  {halves}")
        if "adversarial" in rows:
            self.stdout.write("Adversarial questions are not in the overall figures.")
        if figures["without"]:
            self._print_parts(figures)
        self.stdout.write(
            f"{figures['skipped']} questions without valid evidence were not scored. Vectors: {figures['model']}."
        )
        whole, search = figures["query_ms"], figures["search_ms"]
        self.stdout.write(
            f"A question takes {whole['p50']} ms in the middle and {whole['p95']} ms at the 95th percentile, "
            f"{search['p50']} ms and {search['p95']} ms without its embedding."
        )

    def _print_parts(self, figures: dict[str, Any]) -> None:
        """Print what the overall figures lose (-) or gain without each part, in points."""
        width = max(len(f"without {part}") for part in figures["without"])
        for part, row in figures["without"].items():
            cells = "  ".join(f"{100 * (row[metric] - figures['overall'][metric]):+9.1f}" for metric in METRICS)
            self.stdout.write(f"{f'without {part}':<{width}}  {'':5}  {cells}")

    def _print_turns(self, figures: dict[str, Any]) -> None:
        """Print by kind of turn how many look again, and how many of those find something."""
        self.stdout.write(f"{'turns':<12}{'n':>7}{'again %':>10}{'found more %':>14}")
        for kind in ("said", "question", "follow-up"):
            row = figures[kind]
            self.stdout.write(f"{kind:<12}{row['turns']:7}{100 * row['again']:10.1f}{100 * row['added']:14.1f}")
        row, took = figures["follow-up"], figures["again_ms"]
        self.stdout.write(
            f"Of what answers a follow-up the first look recalls {100 * row['first']:.1f} %, both "
            f"{100 * row['recalled']:.1f} %."
        )
        if took:
            self.stdout.write(
                f"A second look takes {took['p50']} ms in the middle, {took['p95']} ms at the 95th percentile, "
                f"{took['most']} ms at most."
            )
