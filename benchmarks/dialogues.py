"""Score what the built-in reading hears in talk, on held-out texts: ``python -m benchmarks.dialogues``, no database.

``--refusals FILE``: lines of "no" or "yes" and a dialogue, whose turns are separated by `` || `` and begin with ``U:``
or ``A:``; whether the last one refuses to have something kept. ``--corrections FILE``: lines of "replaced" or "kept", a
memory, and a later message; whether the message changes the memory or is a reason to ask about it. A change that waits
for the person by design, as it is of health, is counted apart. ``--show`` prints the wrong verdicts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks import set_up_without_servers

ROLES = {"U": "user", "A": "assistant"}
AT = datetime(2026, 11, 20, 18, tzinfo=UTC)


def refusals(rows: Sequence[list[str]], *, show: bool) -> None:
    """Print how many dialogues end with a refusal that is heard, and how many without one are taken for one."""
    from language.reading.refusals import Turn, find_refusal

    def heard(dialogue: str) -> str:
        turns = [Turn(ROLES[each[0]], each[2:].strip()) for each in dialogue.split(" || ")]
        refusal = find_refusal(turns, len(turns) - 1)
        return "no" if refusal is not None and (refusal.passages or refusal.named_lemmas) else "yes"

    _tell("refusals", ((wanted, heard(dialogue), dialogue) for wanted, dialogue in rows), show=show)


def corrections(rows: Sequence[list[str]], *, show: bool) -> None:
    """Print what becomes of memories by a later message, and the processor time of a message."""
    from language.backends import get_embedder
    from language.base import KnownMemory, ToolRequest, ToolSpec, Utterance
    from language.reading.choosing import ADD, DELETE, DOUBT, UPDATE, choose
    from language.reading.kinds import is_health_to_guard

    tools = [ToolSpec(name, "", {}) for name in (ADD, UPDATE, DELETE, DOUBT)]
    categories = ("context", "person", "event", "knowledge", "tasks")
    taken: list[float] = []

    def become(memory: str, message: str) -> tuple[str, str]:
        [vector] = get_embedder().embed_passages([memory])
        known = KnownMemory("m0000000", "person", "", memory, "", (AT - timedelta(days=40)).date(), vector)
        said = [Utterance(0, "user", "Alma", message, AT)]
        began = time.process_time()
        calls = choose(ToolRequest(said, "Alma", (known,), tools, categories, 10))
        taken.append(1000 * (time.process_time() - began))
        of_it = [call for call in calls if call.arguments.get("memory_id") == known.id]
        if not of_it:
            return "kept", ""
        asked = "waits by design" if is_health_to_guard(memory) else "waits"
        return asked if of_it[0].name == DOUBT else "replaced", str(of_it[0].arguments.get("content", ""))

    def told() -> Iterable[tuple[str, str, str]]:
        for wanted, memory, message in rows:
            became, content = become(memory, message)
            yield wanted, became, f"{memory} | {message} | {content}"

    _tell("corrections", told(), show=show)
    print(f"processor ms a message: median {statistics.median(taken):.0f}")


def _tell(name: str, verdicts: Iterable[tuple[str, str, str]], *, show: bool) -> None:
    """Print how often each label got each verdict."""
    counts: Counter[tuple[str, str]] = Counter()
    for wanted, got, text in verdicts:
        counts[wanted, got] += 1
        if show and wanted != got:
            print(f"  {wanted:9}{got:16}{text}")
    for (wanted, got), count in sorted(counts.items()):
        print(f"{name}, {wanted}: {count} of {sum(n for (label, _), n in counts.items() if label == wanted)} {got}")


def main() -> None:
    """Score the files given on the command line."""
    set_up_without_servers()
    from language.backends import embedder_replaced
    from language.embedders.e5.embedder import BundledEmbedder

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = {"refusals": refusals, "corrections": corrections}
    for name in kinds:
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    with embedder_replaced(BundledEmbedder()):
        for name, score in kinds.items():
            if path := getattr(given, name):
                lines = path.read_text(encoding="utf-8").splitlines()
                score([line.split("\t") for line in lines if line.strip()], show=given.show)


if __name__ == "__main__":
    main()
