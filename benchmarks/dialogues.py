"""Score what the built-in reading hears in talk, on held-out texts: ``python -m benchmarks.dialogues``, no database.

``--refusals FILE``: lines of "no" or "yes" and a dialogue, whose turns are separated by `` || `` and begin with ``U:``
or ``A:``; whether the last one refuses to have something kept. ``--corrections FILE``: lines of "replaced" or "kept", a
memory, and a later message; whether the message changes the memory or is a reason to ask about it. A change that waits
for the person by design, as it is of health, is counted apart. With ``--beside 30`` the person has that many more
memories of the file, and those that a message changes are counted, too. ``--show`` prints the wrong verdicts.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

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


def corrections(rows: Sequence[list[str]], *, show: bool, beside: int = 0) -> None:
    """Print what becomes of memories by a later message, and the processor time of a message.

    ``beside``: how many other memories of the rows the person has.
    """
    from language.backends import get_embedder
    from language.base import KnownMemory, ToolRequest, ToolSpec, Utterance
    from language.reading.choosing import ADD, DELETE, DOUBT, UPDATE, choose
    from language.reading.kinds import is_health_to_guard

    tools = [ToolSpec(name, "", {}) for name in (ADD, UPDATE, DELETE, DOUBT)]
    categories = ("context", "person", "event", "knowledge", "tasks")
    taken: list[float] = []
    every, random = list(dict.fromkeys(memory for _, memory, _ in rows)), Random(1)
    vectors = dict(zip(every, get_embedder().embed_passages(every), strict=True))
    noted = (AT - timedelta(days=40)).date()
    wrong: list[str] = []

    def become(memory: str, message: str) -> tuple[str, str]:
        others = random.sample([each for each in every if each != memory], beside)
        known, *rest = (
            KnownMemory(f"m{number:07}", "person", "", each, "", noted, vectors[each])
            for number, each in enumerate([memory, *others])
        )
        said = [Utterance(0, "user", "Alma", message, AT)]
        began = time.process_time()
        calls = choose(ToolRequest(said, "Alma", (known, *rest), tools, categories, 10))
        taken.append(1000 * (time.process_time() - began))
        contents = {each.id: each.content for each in rest}
        changed = [call for call in calls if call.name != DOUBT and call.arguments.get("memory_id") in contents]
        wrong.extend(f"{contents[str(call.arguments['memory_id'])]} | {message}" for call in changed)
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
    if beside:
        print(f"other memories changed: {len(wrong)} by {len(rows)} messages")
        print("".join(f"  {each}\n" for each in wrong if show), end="")
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
    parser.add_argument("--refusals", type=Path)
    parser.add_argument("--corrections", type=Path)
    parser.add_argument("--beside", type=int, default=0, help="how many other memories the person has")
    parser.add_argument("--show", action="store_true")
    given = parser.parse_args()
    with embedder_replaced(BundledEmbedder()):
        if given.refusals:
            refusals(_rows(given.refusals), show=given.show)
        if given.corrections:
            corrections(_rows(given.corrections), show=given.show, beside=given.beside)


def _rows(path: Path) -> list[list[str]]:
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


if __name__ == "__main__":
    main()
