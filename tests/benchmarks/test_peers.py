"""The comparison with peers: its plan, its figures and its checks, and a whole run over a small database."""

import json
import os
import random
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import figures
from benchmarks.peers.__main__ import read_options
from benchmarks.peers.channel import PeersFailed, peers_process
from benchmarks.peers.copying import vector_text
from benchmarks.peers.figures import Spread, best, milliseconds, ratio, spread, table
from benchmarks.peers.kept import Kept, Note, kept_in, migrations
from benchmarks.peers.measuring import Measuring, Quality, Result, Rounds
from benchmarks.peers.plan import SMALLEST, Person, Plan
from benchmarks.peers.report import best_mem0, render, render_growth
from benchmarks.peers.system import KEEPS_NOTHING, LISTED, TOP, WORK, Timed, vectors_of
from language.embedders.hashing import HashingEmbedder
from memory_project.embedded.account import Account
from memory_project.embedded.places import temporary_directory

ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".venv-peers" / "bin" / "python"


@pytest.fixture(scope="module")
def plan():
    return Plan(SMALLEST)


# --- The plan -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("memories", [SMALLEST, 20_001, 200_000, 1_000_000])
def test_a_plan_holds_as_many_memories_as_it_says(memories):
    people = Plan(memories).people
    assert sum(person.memories for person in people) == memories
    assert [person.first for person in people[1:]] == [person.first + person.memories for person in people[:-1]]
    assert len({person.name for person in people}) == len(people)


def test_the_full_database_has_a_thousand_people_and_all_sizes():
    plan = Plan(200_000)
    assert len(plan.people) == 1_000
    assert plan.sizes == (10, 100, 1_000, 10_000)


def test_people_who_are_measured_have_the_size_and_are_others_each_time(plan):
    assert plan.sizes == (10, 100)
    measured = [person for size in plan.sizes for person in (plan.asker(size), *plan.writers(size))]
    assert len(set(measured)) == len(measured)
    for size in plan.sizes:
        assert {plan.asker(size).memories, *(person.memories for person in plan.writers(size))} == {size}


def test_a_database_too_small_to_say_anything_is_refused():
    with pytest.raises(ValueError, match="says nothing"):
        Plan(SMALLEST - 1)


def test_two_processes_plan_the_same(plan):
    other = Plan(SMALLEST)
    assert list(plan.all_memories()) == list(other.all_memories())
    asker = plan.asker(100)
    assert plan.questions(asker, 5) == other.questions(asker, 5)
    assert plan.statements(asker, 5, turn=1) == other.statements(asker, 5, turn=1)
    assert plan.statements(asker, 5, turn=1) != plan.statements(asker, 5, turn=2)


def test_nobody_is_told_the_same_twice_and_numbers_run_on(plan):
    memories = [memory for _, memory in plan.all_memories()]
    assert [memory.number for memory in memories] == list(range(SMALLEST))
    assert all(len(memory.id) == 8 and 5 <= len(memory.content) <= 500 for memory in memories)
    for person in plan.people:
        contents = [memory.content for memory in plan.memories_of(person)]
        assert len(set(contents)) == len(contents)


def test_everything_is_written_once_and_hardly_two_of_a_person_beside_each_other():
    plan = Plan(20_000)
    written = list(plan.all_written())
    assert sorted(written, key=lambda each: each[1].number) == list(plan.all_memories())
    beside = sum(person == after for (person, _), (after, _) in pairwise(written))
    assert beside < len(written) / 10
    times = [memory.number for person, memory in written if person == plan.asker(100)]
    assert times == sorted(times)


def test_a_question_is_about_the_memory_that_answers_it(plan):
    asker = plan.asker(100)
    contents = {memory.id: set(memory.content.split()) for memory in plan.memories_of(asker)}
    for asked in plan.questions(asker, 30):
        assert asker.owns(asked.answer)
        common = contents[asked.answer] & set(asked.text.strip("?").split())
        assert len(common) >= 2


@pytest.mark.parametrize(
    ("memory_id", "owned"), [("00000004", False), ("00000005", True), ("00000007", True), ("00000008", False)]
)
def test_whose_a_memory_is(memory_id, owned):
    assert Person(3, memories=3, first=5).owns(memory_id) is owned


def test_what_was_added_is_nobodys_by_its_id():
    assert not Person(3, memories=3, first=0).owns("3f2b8a52-0000-4000-8000-000000000001")


# --- Vectors ------------------------------------------------------------------------------------------------------


def test_a_quick_embedder_embeds_everything(plan):
    writer = plan.writers(100)[0]
    contents = [memory.content for memory in plan.memories_of(writer)]
    own = vectors_of(plan, writer, HashingEmbedder(), slow=False)
    assert np.array_equal(own, HashingEmbedder().embed_passages(contents))


def test_a_slow_embedder_embeds_what_is_asked_for_alone(plan):
    asker, writer = plan.asker(100), plan.writers(100)[0]
    embedder = HashingEmbedder(dimensions=16)
    assert np.array_equal(vectors_of(plan, asker, embedder, slow=True), vectors_of(plan, asker, embedder, slow=False))
    others = vectors_of(plan, writer, embedder, slow=True)
    assert others.shape == (100, 16)
    assert np.allclose(np.linalg.norm(others, axis=1), 1)
    assert np.array_equal(others, vectors_of(plan, writer, embedder, slow=True))
    assert not np.array_equal(others, vectors_of(plan, writer, embedder, slow=False))


def test_who_has_more_than_a_slow_embedder_can_embed_has_random_vectors():
    plan = Plan(200_000)
    embedder = HashingEmbedder(dimensions=4)
    asker = plan.asker(10_000)
    assert np.array_equal(
        vectors_of(plan, asker, embedder, slow=True)[:3],
        vectors_of(Plan(1_000_000), asker, embedder, slow=True)[:3],
    )
    assert not np.array_equal(
        vectors_of(plan, asker, embedder, slow=True)[0],
        embedder.embed_query(next(iter(plan.memories_of(asker))).content),
    )


def test_a_vector_is_written_exactly():
    vector = HashingEmbedder().embed_query("Ann lives in Bergen.") * np.float32(1e-3)
    assert np.array_equal(np.array(json.loads(vector_text(vector)), dtype=np.float32), vector)


# --- What is kept ---------------------------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """A directory that says it was filled by this checkout, whose only migration is one.py's."""
    migration = tmp_path / "room" / "migrations" / "0001_one.py"
    migration.parent.mkdir(parents=True)
    migration.write_text("one")
    monkeypatch.setattr("benchmarks.peers.kept.ROOT", tmp_path)
    with kept_in(tmp_path / "kept") as kept:
        kept.note_keepsake(7)
        yield kept


def read_again(kept):
    return Kept(kept.directory)


def test_what_is_kept_is_known_again(kept):
    assert read_again(kept).note == kept.note
    assert kept.note.relations == 7
    assert list(kept.note.migrations) == ["room/0001_one"]
    assert not read_again(kept).is_outdated
    assert not read_again(kept).has_peers
    assert not read_again(kept).has_earlier
    kept.note_peers()
    kept.note_earlier()
    assert read_again(kept).has_peers
    assert read_again(kept).has_earlier


def test_a_new_migration_is_applied_to_what_is_kept(kept, tmp_path):
    (tmp_path / "room" / "migrations" / "0002_two.py").write_text("two")
    assert not kept.is_outdated
    assert migrations() != kept.note.migrations


def test_a_changed_or_lost_migration_outdates_what_is_kept(kept, tmp_path):
    migration = tmp_path / "room" / "migrations" / "0001_one.py"
    migration.write_text("another")
    assert kept.is_outdated
    migration.unlink()
    assert kept.is_outdated


def test_another_way_to_fill_outdates_what_is_kept(kept, monkeypatch):
    kept.note_peers()
    kept.note_earlier()
    monkeypatch.setattr("benchmarks.peers.kept.digest_of", lambda names: "another")
    assert kept.is_outdated
    assert not kept.has_peers
    assert not kept.has_earlier


def test_nothing_that_was_never_filled_is_outdated(tmp_path):
    with kept_in(tmp_path / "new") as kept:
        assert not kept.note.keepsake
        assert not kept.is_outdated


def test_emptying_removes_the_databases_alone(kept):
    for name in ("postgres", "valkey", "programs"):
        (kept.data / name).mkdir()
    kept.empty()
    assert read_again(kept).note == Note()
    assert [name for name in ("postgres", "valkey", "programs") if (kept.data / name).exists()] == [
        "valkey",
        "programs",
    ]
    kept.empty_queues()
    assert not (kept.data / "valkey").exists()


def test_two_runs_do_not_share_a_directory(kept):
    with pytest.raises(SystemExit, match="Another benchmark runs"), kept_in(kept.directory):
        pass


# --- The command line -----------------------------------------------------------------------------------------------


def options_of(monkeypatch, plan, *arguments):
    monkeypatch.setattr(sys, "argv", ["benchmarks.peers", *arguments])
    return read_options(plan)


def test_options_narrow_a_run_down(monkeypatch, plan):
    options = options_of(monkeypatch, plan, "--sizes=10,100", "--only=search,list", "--rounds=200")
    assert (options.sizes, options.only) == ((10, 100), ("search", "list"))
    assert (options.measured.search, options.measured.read, options.measured.add) == (200, 200, Rounds().add)


def test_without_options_everything_is_measured(monkeypatch, plan):
    options = options_of(monkeypatch, plan)
    assert (options.sizes, options.only, options.embedder) == ((), WORK, "hashing")
    assert options.measured == Rounds()


@pytest.mark.parametrize(
    ("argument", "complaint"),
    [
        ("--sizes=1000", "nobody asks who has 1000"),
        ("--only=search,dance", "dance is none of"),
        ("--embedder=openai", "invalid choice"),
    ],
)
def test_options_that_can_not_be_are_refused(monkeypatch, capsys, plan, argument, complaint):
    with pytest.raises(SystemExit):
        options_of(monkeypatch, plan, argument)
    assert complaint in capsys.readouterr().err


def test_peers_have_the_hashing_embedder_alone(monkeypatch, capsys, plan):
    with pytest.raises(SystemExit):
        options_of(monkeypatch, plan, "--peers=python", "--embedder=bundled")
    assert "--embedder hashing" in capsys.readouterr().err


# --- Figures ------------------------------------------------------------------------------------------------------


def test_a_spread_is_in_milliseconds():
    seconds = [number / 1_000 for number in range(1, 101)]
    random.Random(1).shuffle(seconds)
    assert spread(seconds) == Spread(median=50.5, p95=95.0, count=100)


@pytest.mark.parametrize(("count", "p95"), [(1, 1), (3, 3), (19, 19), (20, 19), (40, 38), (60, 57)])
def test_the_95th_percentile_is_a_time_that_was_measured(count, p95):
    assert spread([number / 1_000 for number in range(1, count + 1)]).p95 == pytest.approx(p95)


def test_no_times_have_no_spread():
    with pytest.raises(ValueError, match="no times"):
        spread([])


def test_a_ratio_is_of_medians():
    assert ratio(Spread(6, 100, 3), Spread(4, 1, 3)) == 1.5


def test_the_best_setting_is_the_quickest_that_finds_things():
    times = {"quick": Spread(1, 1, 1), "right": Spread(3, 3, 1), "slow": Spread(9, 9, 1)}
    recalls = {"quick": 0.4, "right": 0.95, "slow": 1.0}
    assert best(times, recalls, 0.95) == "right"
    assert best(times, recalls, 1.0) == "slow"
    assert best(times, {"quick": 0.4}, 0.95) is None


@pytest.mark.parametrize(("value", "shown"), [(0.123, "0.12"), (9.994, "9.99"), (12.34, "12.3"), (1234.5, "1234")])
def test_milliseconds_have_three_digits_that_count(value, shown):
    assert milliseconds(value) == shown


def test_a_table_lines_up():
    assert table(["name", "ms"], [["a", "1.00"], ["longer", "12.3"]]) == "name      ms\na       1.00\nlonger  12.3"


# --- Checks -------------------------------------------------------------------------------------------------------


def test_nearest_are_found_by_comparing_all():
    vectors = np.eye(4, dtype=np.float32)
    question = np.array([0.1, 0.9, 0.4, 0.2], dtype=np.float32)
    assert figures.nearest(vectors, question, 20, 2) == {"00000021", "00000022"}


def test_rows_as_near_as_the_last_count_as_nearest():
    vectors = np.array([[1, 0], [0, 1], [0.0001, 0.9999]], dtype=np.float32)
    assert figures.nearest(vectors, np.array([0, 1], dtype=np.float32), 0, 1) == {"00000001", "00000002"}


def test_of_fewer_rows_all_are_nearest():
    assert figures.nearest(np.eye(2, dtype=np.float32), np.ones(2, dtype=np.float32), 0, 10) == {"00000000", "00000001"}


@pytest.mark.parametrize(
    ("answer", "share"),
    [
        (["a", "b"], 1.0),
        (["a", "x"], 0.5),
        (["a", "a"], 0.5),
        (["a"], 0.5),
        ([], 0.0),
        (["x", "y", "a", "b"], 0.0),
    ],
)
def test_recall_counts_what_is_right_among_the_first(answer, share):
    assert figures.recall(answer, {"a", "b", "c"}, 2) == share


def test_of_nothing_all_is_found():
    assert figures.recall([], set(), 0) == 1.0


def test_rows_of_others_are_noticed():
    person = Person(1, memories=10, first=10)
    assert figures.foreign(["00000010", "00000020", "new"], person) == ["00000020", "new"]


def test_a_block_holds_every_statement():
    assert figures.block_holds("- one\n- two", ["one", "two"])
    assert not figures.block_holds("- one", ["one", "two"])


# --- The race, between systems that answer from a list --------------------------------------------------------------


class FromMemory:
    """A system that ranks by the vectors, and gets wrong what it is told to."""

    def __init__(self, name, plan, vectors, lacks=(), mistake=""):
        self.name, self.lacks = name, dict.fromkeys(lacks, "it has none")
        self.plan, self.vectors, self.mistake = plan, vectors, mistake
        self.embedder, self.added, self.calls, self.log = HashingEmbedder(), {}, [], []

    def note(self, work, person, *said):
        self.log.append((self.name, "noted", work))

    def call(self, work, person, *said):
        self.calls.append((work, person))
        self.log.append((self.name, "timed", work))
        return Timed(0.001 * (len(self.name)), getattr(self, work)(person, *said))

    def person(self, name):
        return next(person for person in self.plan.people if person.name == name)

    def search(self, name, text):
        person = self.person(name)
        order = np.argsort(-(self.vectors[name] @ self.embedder.embed_query(text)))[:TOP]
        if self.mistake == "misses":
            order = order[: len(order) // 2]
        shift = 10**6 if self.mistake == "foreign" else 0
        return [f"{person.first + int(row) + shift:08d}" for row in order]

    def list(self, name):
        person = self.person(name)
        most = min(LISTED, person.memories) - (1 if self.mistake == "short" else 0)
        return [f"{person.first + row:08d}" for row in range(most)]

    list_again = list

    def block(self, name):
        contents = [memory.content for memory in self.plan.memories_of(self.person(name))]
        return "\n".join(contents[1 if self.mistake == "short" else 0 :])

    block_again = block

    def add(self, name, text):
        return self.add_many(name, [text])

    def add_many(self, name, texts):
        ids = [f"new-{len(self.added) + place}" for place in range(len(texts))]
        self.added.update(dict(zip(ids, [""] * len(ids) if self.mistake == "forgets" else texts, strict=True)))
        return ids

    def contents(self, name, ids):
        return [self.added[each] for each in ids]


@pytest.fixture(scope="module")
def vectors(plan):
    askers = [plan.asker(size) for size in plan.sizes]
    return {asker.name: vectors_of(plan, asker, HashingEmbedder(), slow=False) for asker in askers}


def race(plan, vectors, *systems, **only):
    measuring = Measuring(plan, vectors, HashingEmbedder().embed_query, Rounds(4, 2, 2, 1, warm_up=1))
    measuring.run(systems, lambda text: None, **only)
    return measuring


def test_all_systems_do_the_same_work_and_take_turns_to_begin(plan, vectors):
    one, other = FromMemory("a", plan, vectors), FromMemory("bb", plan, vectors, lacks=["block", "block_again"])
    result = race(plan, vectors, one, other).result
    assert [call for call in one.calls if not call[0].startswith(("block", "add"))] == [
        call for call in other.calls if not call[0].startswith(("block", "add"))
    ]
    assert not result.wrong
    for works in result.times.values():
        assert list(works) == list(WORK)
        assert works["search"] == {"a": Spread(1.0, 1.0, 4), "bb": Spread(2.0, 2.0, 4)}
        assert list(works["block"]) == ["a"]
        assert works["add_many"]["a"].count == 1


def test_what_is_replayed_is_noted_before_the_first_is_timed_and_who_is_first_is_drawn(plan, vectors):
    systems = [FromMemory(name, plan, vectors) for name in ("a", "bb", "ccc")]
    for system in systems:
        system.log = systems[0].log
    race(plan, vectors, *systems, works=["search", "list"])
    log = systems[0].log
    rounds = [log[at : at + 6] for at in range(0, len(log), 6)]
    assert all([done for _, done, _ in each] == ["noted"] * 3 + ["timed"] * 3 for each in rounds)
    in_turn = {("a", "bb", "ccc"), ("bb", "ccc", "a"), ("ccc", "a", "bb")}
    assert {tuple(name for name, _, _ in each[3:]) for each in rounds} - in_turn


def test_a_race_can_be_narrowed_down(plan, vectors):
    system = FromMemory("a", plan, vectors)
    result = race(plan, vectors, system, sizes=[100], works=["search"]).result
    assert {size: list(works) for size, works in result.times.items()} == {100: ["search"]}
    assert list(result.quality) == [100]
    assert {work for work, _ in system.calls} == {"search"}
    assert result.embedding_ms > 0
    assert race(plan, vectors, system, works=["list"]).result.embedding_ms == 0


def test_exact_answers_are_right_in_every_way(plan, vectors):
    quality = race(plan, vectors, FromMemory("exact", plan, vectors)).result.quality
    assert {size: each["exact"].nearest for size, each in quality.items()} == {10: 1.0, 100: 1.0}
    assert quality[100]["exact"].found > 0.7
    assert quality[100]["exact"].foreign == 0


@pytest.mark.parametrize(
    ("mistake", "complaint"),
    [
        ("foreign", "10 rows are another person's"),
        ("short", "9 rows instead of 10"),
        ("short", "the text lacks memories"),
        ("forgets", "what was added is not there as it was said"),
    ],
)
def test_wrong_answers_are_named(plan, vectors, mistake, complaint):
    result = race(plan, vectors, FromMemory("wrong", plan, vectors, mistake=mistake)).result
    assert any(line.endswith(complaint) for line in result.wrong)


def test_an_index_that_misses_rows_shows_in_the_recall(plan, vectors):
    exact, misses = FromMemory("exact", plan, vectors), FromMemory("misses", plan, vectors, mistake="misses")
    measuring = race(plan, vectors, exact, misses)
    assert measuring.recall_against(100, "exact", "exact") == 1.0
    assert measuring.recall_against(100, "misses", "exact") == 0.5
    assert measuring.result.quality[100]["misses"].nearest == 0.5


# --- The report -----------------------------------------------------------------------------------------------------

NAMES = ("Keepsake", "Keepsake HTTP", "bare SQL", "mem0 default", "mem0 exact", "mem0 exact+index", "agno")


def made_up(recalls=(0.2, 1.0, 1.0), wrong=()):
    """Times of 2, 4, 1, 1, 8, 3 and 5 ms for the names."""
    times = dict(zip(NAMES, (Spread(each, each, 3) for each in (2.0, 4.0, 1.0, 1.0, 8.0, 3.0, 5.0)), strict=True))
    lacks = {name: {} for name in NAMES}
    lacks["agno"] = {**KEEPS_NOTHING, "search": "it has no search"}
    lacks["mem0 default"] = lacks["mem0 exact"] = {"block": "it has no text"}
    works = {work: {name: each for name, each in times.items() if work not in lacks[name]} for work in WORK}
    qualities = {name: Quality(1.0, 0.9, 1.0) for name in NAMES[:3]}
    qualities |= {name: Quality(1.0, each, each) for name, each in zip(NAMES[3:6], recalls, strict=True)}
    return Result({1_000: works}, {1_000: qualities}, lacks, list(wrong))


def test_a_report_holds_what_was_measured_alone():
    result = made_up()
    result.times[1_000] = {"list": result.times[1_000]["list"]}
    result.quality = {}
    text = render(result)
    assert text.startswith("list, the 100 newest")
    assert "search" not in text.replace("it has no search", "")


def test_what_the_embedder_takes_is_taken_off_for_the_ratio_to_bare_sql():
    result = made_up()
    result.embedding_ms = 0.5
    text = render(result)
    assert "without the 0.50 ms of embedding, which bare SQL has not: 1.50 times in process" in text
    assert "3.50 times over HTTP (+2.50 ms)" in text


def test_the_best_setting_of_mem0_is_one_of_its_own():
    assert best_mem0(made_up(), 1_000) == "mem0 exact"
    assert best_mem0(made_up(recalls=(0.2, 0.9, 1.0)), 1_000) is None
    assert best_mem0(made_up(recalls=(0.96, 1.0, 1.0)), 1_000) == "mem0 default"


def test_a_report_says_what_each_takes_and_what_it_lacks():
    text = render(made_up())
    assert re.search(r"^Keepsake HTTP +4\.00 \(4\.00\)  2\.00$", text, re.MULTILINE)
    assert "  agno: it has no search\n" in text
    assert "  mem0 default, mem0 exact: it has no text\n" in text
    assert "1,000: 2.00 times bare SQL in process, 4.00 times over HTTP (+3.00 ms), p95 over HTTP 4.00 ms" in text
    assert "mem0 exact, mem0's quickest with a recall of 0.95 or more, takes 4.00 times as long" in text
    assert "mem0 default takes 0.50 times as long as Keepsake in process" in text
    assert "Every answer was checked" in text


def test_a_report_says_when_no_setting_finds_things():
    assert "none of mem0's settings has a recall of 0.95" in render(made_up(recalls=(0.2, 0.9, 1.0)))


def test_a_report_counts_wrong_answers():
    text = render(made_up(wrong=["agno: lost", "agno: lost", "Keepsake: lost"]))
    assert "Wrong answers:\n  2 times agno: lost\n  1 times Keepsake: lost" in text


def test_figures_can_be_written_as_json():
    plain = json.loads(json.dumps(made_up().plain()))
    assert plain["times"]["1000"]["search"]["Keepsake"] == {"median": 2.0, "p95": 2.0, "count": 3}
    assert plain["quality"]["1000"]["mem0 default"]["recall"] == 0.2


def test_growth_is_told_for_what_both_runs_measured():
    small = json.loads(json.dumps({"memories": 20_000, **made_up().plain()}))
    large = json.loads(json.dumps({"memories": 200_000, **made_up().plain()}))
    large["times"]["10000"] = large["times"]["1000"]
    large["times"]["1000"]["search"]["Keepsake"]["median"] = 2.3
    del small["times"]["1000"]["search"]["bare SQL"]
    lines = render_growth(large, small).splitlines()
    assert lines[0].split() == ["search", "with", "200,000", "memories,", "against", "20,000", "1000"]
    assert lines[1].split() == ["Keepsake", "1.15"]
    assert lines[2].split() == ["Keepsake", "HTTP", "1.00"]
    assert [line.split()[0] for line in lines[3:]] == ["mem0", "mem0", "mem0"]


def test_runs_that_have_no_size_in_common_tell_no_growth():
    small = json.loads(json.dumps({"memories": 20_000, **made_up().plain()}))
    assert len(render_growth({**small, "times": {"10": small["times"]["1000"]}}, small).splitlines()) == 1


# --- The processes ---------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_process_that_ends_is_told_with_its_reason(tmp_path, capsys):
    with (
        pytest.raises(PeersFailed, match="has ended"),
        peers_process(Path(sys.executable), "nowhere", tmp_path, 1) as it,
    ):
        it.ask("systems")
    assert "Error" in capsys.readouterr().err


def measure(*arguments):
    """Run it over the smallest database, and return what it wrote to standard error."""
    given = {name: value for name, value in os.environ.items() if not name.startswith(("DATABASE_", "REDIS_"))}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.peers", "--quick", *arguments],
        cwd=ROOT,
        env={**given, "BENCH_SCALE": str(SMALLEST)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stderr


@pytest.mark.slow
def test_a_whole_run_over_a_small_database_and_another_on_what_it_kept(tmp_path):
    """With the peers where ``make bench`` has installed them; what Keepsake and bare SQL do is measured anyhow."""
    out = tmp_path / "figures.json"
    peers = ["--peers", str(PEERS)] if PEERS.exists() else []
    directory = temporary_directory("keepsake-tests-", Account.for_servers())
    directory.chmod(0o711)
    try:
        told = measure("--data", str(directory), "--sizes=100", "--json", str(out), *peers)
        assert "memories of 27 people" in told
        assert "The earlier tables" in told
        assert "A copy to add to" in told
        assert Kept(directory / f"{SMALLEST}-hashing").note.added_to
        figures = json.loads(out.read_text(encoding="utf-8"))
        assert figures["wrong"] == []
        assert (figures["memories"], figures["people"]) == (SMALLEST, 27)
        own = figures["quality"]["100"]
        assert own["Keepsake"] == own["Keepsake HTTP"] == own["bare SQL"]
        assert own["Keepsake"]["recall"] == 1.0
        assert own["Keepsake"]["found"] == 1.0
        assert set(figures["times"]["100"]["search"]) >= {"Keepsake", "bare SQL", "earlier SQL"}
        assert ("agno" in figures["times"]["100"]["list"]) is bool(peers)
        # The same statements again: were those of the first run still there, they would not be new.
        works = [work for work in WORK if work != "add_many"]
        told = measure("--data", str(directory), f"--only={','.join(works)}", "--json", str(out), *peers)
        assert "memories of 27 people" not in told
        figures = json.loads(out.read_text(encoding="utf-8"))
        assert figures["wrong"] == []
        assert {size: list(times) for size, times in figures["times"].items()} == {"10": works, "100": works}
    finally:
        shutil.rmtree(directory)
