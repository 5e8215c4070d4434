"""The report of a run: median and 95th percentile of each system, quality of the answers, and comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .figures import Spread, best, milliseconds, ratio, table
from .measuring import Quality, Result
from .system import LISTED, MANY, TOP, WORK

OWN = "Keepsake"
SERVED = "Keepsake HTTP"
BARE = "bare SQL"
MEM0 = "mem0 "
MEM0_DEFAULT = "mem0 default"
LANGGRAPH = "LangGraph store"
BY_HAND = "mem0 exact+index"
"""A configuration that mem0 does not offer: with an index created by hand."""

ENOUGH = 0.95
"""The minimum recall of a configuration to be compared."""

_TITLES = {
    "search": f"search, the {TOP} best for a question",
    "list": f"list, the {LISTED} newest",
    "list_again": "the same list again, unchanged",
    "block": "prompt block, the text with all memories",
    "block_again": "the same block again, unchanged",
    "add": "add one",
    "add_many": f"add {MANY}",
}


def render(result: Result) -> str:
    """Return all tables of a run."""
    parts = [_work(result, work) for work in WORK if all(work in works for works in result.times.values())]
    if result.quality:
        parts += [_rightness(result), "\n".join(_comparison(result))]
    return "\n\n".join([*parts, *_wrong(result)])


def render_growth(figures: Mapping[str, Any], earlier: Mapping[str, Any]) -> str:
    """Return a table of search times relative to an earlier run, by system and size. Both are written by ``--json``.

    Only sizes and systems measured in both runs are shown.
    """
    sizes = [size for size in figures["times"] if size in earlier["times"]]
    head = [f"search with {figures['memories']:,} memories, against {earlier['memories']:,}", *sizes]
    names = [name for name in figures["lacks"] if all(name in _searches(each, sizes) for each in (figures, earlier))]
    rows = [
        [name, *(f"{_median(figures, size, name) / _median(earlier, size, name):.2f}" for size in sizes)]
        for name in names
    ]
    return table(head, rows)


def _searches(figures: Mapping[str, Any], sizes: Sequence[str]) -> set[str]:
    """Return the systems that have searches at all of the sizes."""
    return set.intersection(*(set(figures["times"][size]["search"]) for size in sizes)) if sizes else set()


def _median(figures: Mapping[str, Any], size: str, name: str) -> float:
    median: float = figures["times"][size]["search"][name]["median"]
    return median


def best_mem0(result: Result, size: int) -> str | None:
    """Return mem0's fastest own configuration with sufficient recall at this size, or None."""
    times = {name: each for name, each in result.times[size]["search"].items() if name.startswith(MEM0)}
    times.pop(BY_HAND, None)
    recalls = {name: each.recall or 0.0 for name, each in result.quality[size].items()}
    return best(times, recalls, ENOUGH)


def _work(result: Result, work: str) -> str:
    """Return a table of milliseconds as ``median (p95)`` by system and size, with the ratio to Keepsake in process."""
    sizes = list(result.times)
    names = list(result.lacks)
    head = [_TITLES[work]]
    for size in sizes:
        head += [f"{size:,}", "x"]
    rows = []
    missing: dict[str, list[str]] = {}
    for name in names:
        if work in result.lacks[name]:
            missing.setdefault(result.lacks[name][work], []).append(name)
            continue
        row = [name]
        for size in sizes:
            times = result.times[size][work]
            row += [_cell(times[name]), _times_own(times, name)]
        rows.append(row)
    return "\n".join([table(head, rows), *(f"  {', '.join(without)}: {why}" for why, without in missing.items())])


def _cell(time: Spread) -> str:
    return f"{milliseconds(time.median)} ({milliseconds(time.p95)})"


def _times_own(times: Mapping[str, Spread], name: str) -> str:
    reference = times.get(OWN) or times.get(SERVED)
    return f"{ratio(times[name], reference):.2f}" if reference else "-"


def _rightness(result: Result) -> str:
    head = ["how right the answers are"]
    for size in result.quality:
        head += [f"{size:,}: recall", "nearest", "found"]
    rows = []
    for name in result.lacks:
        if "search" in result.lacks[name]:
            continue
        row = [name]
        for qualities in result.quality.values():
            quality: Quality = qualities[name]
            own = "-" if quality.recall is None else f"{quality.recall:.3f}"
            row += [own, f"{quality.nearest:.3f}", f"{quality.found:.3f}"]
        rows.append(row)
    return table(head, rows)


def _comparison(result: Result) -> Iterator[str]:
    yield "what it comes to for a search, medians"
    for size, works in result.times.items():
        times = works["search"]
        own, served, bare = times[OWN], times[SERVED], times[BARE]
        yield (
            f"  {size:,}: {ratio(own, bare):.2f} times bare SQL in process, {ratio(served, bare):.2f} times over HTTP "
            f"({served.median - bare.median:+.2f} ms), p95 over HTTP {milliseconds(served.p95)} ms"
        )
        yield (
            f"    without the {milliseconds(result.embedding_ms)} ms of embedding, which bare SQL has not: "
            f"{_ratio_without(own, result.embedding_ms, bare)} times in process, "
            f"{_ratio_without(served, result.embedding_ms, bare)} times over HTTP "
            f"({served.median - result.embedding_ms - bare.median:+.2f} ms)"
        )
        chosen = best_mem0(result, size)
        if chosen is not None:
            yield f"    {chosen}, mem0's quickest with a recall of {ENOUGH} or more, {_to_own(times, chosen)}"
        elif MEM0_DEFAULT in times:
            yield f"    none of mem0's settings has a recall of {ENOUGH}"
        yield from (
            f"    {name} {_to_own(times, name)}" for name in (MEM0_DEFAULT, BY_HAND, LANGGRAPH) if name in times
        )


def _ratio_without(time: Spread, milliseconds_less: float, to: Spread) -> str:
    return f"{(time.median - milliseconds_less) / to.median:.2f}"


def _to_own(times: Mapping[str, Spread], name: str) -> str:
    return f"takes {ratio(times[name], times[OWN]):.2f} times as long as Keepsake in process"


def _wrong(result: Result) -> list[str]:
    if not result.wrong:
        return ["Every answer was checked; none holds another person's rows or lacks what it has to have."]
    counts = {line: result.wrong.count(line) for line in result.wrong}
    return ["\n".join(["Wrong answers:", *(f"  {count} times {line}" for line, count in counts.items())])]
