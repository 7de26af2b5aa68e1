"""`partita search`."""

from pathlib import Path

import pytest

from partita.types.json import JsonObject, loads
from tests.cli.sample_store import BUILD, CLOCK, add_threads, fill, new_store, on_terminal, partita


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, add_threads)
    return path


def hits(store: str, *arguments: str) -> list[JsonObject]:
    result = partita(store, "search", "--json", *arguments)
    assert result.exit_code == 0, result.stderr
    return [loads(line) for line in result.stdout.splitlines()]


def test_hit_has_thread_message_and_snippet(store: str) -> None:
    assert (
        partita(store, "search", "linker").stdout
        == f"""\
{BUILD}  1 match  The build is slow
  #2 · assistant · text · just now
    The **linker**.
"""
    )


def test_hits_of_a_thread_are_grouped_with_the_number_of_matches(store: str) -> None:
    shown = partita(store, "search", "clock", "test").stdout
    assert shown.count(CLOCK) == 1
    count = len(hits(store, "clock", "test", "--per-thread", "100")) - 1  # the title is not counted
    assert f"{CLOCK}  {count} matches  Fix the flaky clock test\n" in shown
    assert "    Fix the flaky **clock** **test**\n  #" in shown


def test_terminal_output_has_colours_and_short_ids(store: str) -> None:
    shown = on_terminal(store, "search", "linker")
    assert "\x1b[33m0198a3c2-9\x1b[0m" in shown
    assert "The \x1b[1;35mlinker\x1b[0m." in shown


def test_exit_code_is_1_if_nothing_is_found(store: str) -> None:
    result = partita(store, "search", "zebra", "crossing")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nothing found" in result.stderr


FILTERS: dict[str, tuple[list[str], set[str | None]]] = {
    "role": (["clock", "--role", "user"], {"user"}),
    "two roles": (["clock", "--role", "user", "--role", "assistant"], {"user", "assistant"}),
    "tool": (["clock", "--tool", "TodoWrite"], {"assistant"}),
    "thread by the beginning of its id": (["clock", "--thread", "0198a3c2-7", "--role", "user"], {"user"}),
    "agent": (["clock", "--agent", "claude-code", "--role", "user"], {"user"}),
    "project": (["clock", "--project", "/home/ada/clock", "--role", "user"], {"user"}),
    "field": (["AssertionError", "--field", "tool-output"], {"assistant"}),
    "title": (["clock", "--field", "title"], {None}),
    "a phrase": (['"flaky clock"'], {None}),
    "without": (["clock -flaky", "--role", "user"], {"user"}),
}


@pytest.mark.parametrize(("arguments", "roles"), FILTERS.values(), ids=FILTERS)
def test_filters_select_messages(store: str, arguments: list[str], roles: set[str | None]) -> None:
    found = hits(store, *arguments)
    assert {hit["threadId"] for hit in found} == {CLOCK}
    assert {hit.get("role") for hit in found} == roles


def test_times_select_messages(store: str) -> None:
    assert hits(store, "linker", "--since", "1h")
    assert partita(store, "search", "linker", "--until", "1h").exit_code == 1


def test_limit_is_reported_if_there_are_more_hits(store: str) -> None:
    assert len(hits(store, "clock", "--limit", "1")) == 1
    assert "there are more hits" in partita(store, "search", "clock", "--limit", "1").stderr


def test_query_may_begin_with_a_dash(store: str) -> None:
    assert hits(store, "--", "--count")[0]["threadId"] == CLOCK


def test_json_has_the_positions_of_matches(store: str) -> None:
    (hit,) = hits(store, "linker")
    (start, end), *_ = hit["highlights"]
    assert hit["snippet"][start:end] == "linker"


def test_missing_query_is_an_error(store: str) -> None:
    assert partita(store, "search").exit_code == 2


def test_few_matches_of_each_thread_are_listed(store: str) -> None:
    every = hits(store, "clock", "--per-thread", "100")
    few = hits(store, "clock", "--per-thread", "1")
    assert len(few) == 2 < len(every)  # the title and a message
    assert {hit["threadMatches"] for hit in few} == {len(every) - 1}
    assert len(hits(store, "clock", "--per-thread", "1", "--thread", CLOCK)) == len(every)


QUERIES: dict[str, set[str]] = {
    "linker OR AssertionError": {BUILD, CLOCK},
    "tool:todowrite": {CLOCK},
    "clock project:clock": {CLOCK},
    "clock -project:clock": set(),
    "lin": {BUILD},
    "l": {BUILD, CLOCK},
    "linker after:1h": {BUILD},
    "linker before:1h": set(),
}


@pytest.mark.parametrize(("query", "threads"), QUERIES.items(), ids=QUERIES)
def test_qualifiers_and_alternatives(store: str, query: str, threads: set[str]) -> None:
    result = partita(store, "search", "--json", query)
    assert {loads(line)["threadId"] for line in result.stdout.splitlines()} == threads
    assert result.exit_code == (0 if threads else 1)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "nothing to search for"),
        ("-clock", "nothing to search for"),
        ("clock before:soon", "'soon' is not"),
    ],
)
def test_a_query_that_is_not_valid_is_an_error(store: str, query: str, message: str) -> None:
    result = partita(store, "search", "--", query)
    assert (result.exit_code, result.stdout) == (1, "")
    assert f"error: {message}" in result.stderr
    assert "hint: " in result.stderr


def test_an_empty_store_is_reported(tmp_path: Path) -> None:
    result = partita(new_store(tmp_path / "empty.db"), "search", "clock")
    assert result.exit_code == 1
    assert "the store is empty; run `partita import`" in result.stderr
