"""`partita stats`."""

import re
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from partita.store.store import Store
from partita.store.values import ConsumptionRecord
from partita.types.json import JsonObject, loads
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import ErrorTextOutput, ExecutionDeniedOutput, InterruptedOutput, TextOutput
from partita.types.times import MachineZone
from tests.cli.sample_store import fill, new_store, on_terminal, partita

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
LONG = "/srv/a-folder-with-a-long-name/and-another-one-inside/lighthouse"


def work(id: str, day: int) -> AssistantMessage:
    """Return a message with four tool calls, of which one succeeds."""
    calls = [
        ToolCallPart(f"{id}-1", "Bash", "output-available", {}, output=TextOutput("41 m")),
        ToolCallPart(f"{id}-2", "Bash", "output-error", {}, output=ErrorTextOutput("no such file")),
        ToolCallPart(f"{id}-3", "Edit", "output-denied", {}, output=ExecutionDeniedOutput()),
        ToolCallPart(f"{id}-4", "Edit", "output-error", {}, output=InterruptedOutput("aborted")),
    ]
    return AssistantMessage(id=id, content=calls, created_at=NOON + timedelta(days=day))


async def history(store: Store) -> None:
    """Add three days of two agents in two projects; one model has no price."""
    await store.threads.create("red", agent="claude-code", project=LONG)
    await store.threads.create("blue", agent="codex", project="/srv/blue")
    await store.messages.save(
        [UserMessage(id="q", content="How tall?", created_at=NOON), work("a", 0), work("b", 1)],
        thread_id="red",
    )
    await store.messages.save([work("c", 2)], thread_id="blue")
    responses = [
        ("red", "a", 0, "claude-opus", 1_234_567, 1_111_110, 12_345, 10.5),
        ("red", "b", 1, "claude-opus", 500_000, 400_000, 4_000, 5.25),
        ("blue", "c", 2, "gpt", 80_000, 0, 900, 0.004),
        ("blue", "d", 2, "homemade", 1_000, 0, 100, None),
    ]
    await store.usage.record(
        [
            ConsumptionRecord(
                thread_id=thread,
                key=name,
                message_id=name,
                model=model,
                time=NOON + timedelta(days=day),
                input_tokens=tokens,
                cached_input_tokens=cached,
                cache_write_tokens=tokens // 100,
                output_tokens=output,
                reasoning_tokens=output // 10,
                cost=cost,
            )
            for thread, name, day, model, tokens, cached, output, cost in responses
        ]
    )


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, history)
    return path


OVERVIEW = """\
2 threads · 4 messages · 4 responses
calls   12 (25% failed, 3 denied, 3 interrupted)
tokens  1.8M in (83% from cache, 1.0% written to it) · 17K out (1.7K reasoning)
cost    $15.75, estimated by list prices of the day

day         threads    in  cached   out     cost  calls  failed
2026-03-01        1  1.2M     90%   12K   $10.50      4     25%  ██████████
2026-03-02        1  500K     80%  4.0K    $5.25      4     25%  █████
2026-03-03        1   81K      0%  1.0K  <$0.01+      4     25%

project       threads    in  cached   out     cost  calls  failed
…/lighthouse        1  1.7M     87%   16K   $15.75      8     25%
/srv/blue           1   81K      0%  1.0K  <$0.01+      4     25%

model        responses    in  cached  out    cost
claude-opus          2  1.7M     87%  16K  $15.75
gpt                  1   80K      0%  900  <$0.01
homemade             1  1.0K      0%  100       –

agent        threads    in  cached   out     cost  calls  failed
claude-code        1  1.7M     87%   16K   $15.75      8     25%
codex              1   81K      0%  1.0K  <$0.01+      4     25%

tool  threads  calls  failed  errors  denied  interrupted
Bash        2      6     50%       3       0            0
Edit        2      6      0%       0       3            3

1 response without a price, not included in the cost: homemade (1)
"""


def test_overview_has_totals_and_tables(store: str) -> None:
    result = partita(store, "stats", "--timezone", "UTC")
    assert (result.stdout, result.stderr, result.exit_code) == (OVERVIEW, "", 0)


@pytest.mark.parametrize("columns", [80, 100, 200])
def test_lines_fit_the_width(store: str, columns: int) -> None:
    for line in partita(store, "stats", columns=columns).stdout.splitlines():
        assert len(line) <= columns


TABLES: dict[str, tuple[list[str], str]] = {
    "by one grouping": (
        ["--by", "week"],
        """\
week        threads    in  cached   out    cost  calls  failed
2026-02-23        1  1.2M     90%   12K  $10.50      4     25%  ██████████
2026-03-02        2  581K     69%  5.0K  $5.25+      8     25%  █████

cost: estimated by list prices of the day

1 response without a price, not included in the cost: homemade (1)
""",
    ),
    "by two": (
        ["--by", "agent,model", "--model", "gpt"],
        """\
agent  model  responses   in  cached  out    cost
codex  gpt            1  80K      0%  900  <$0.01

cost: estimated by list prices of the day
""",
    ),
    "calls of models": (
        ["--by", "model,tool", "--agent", "codex"],
        """\
model  tool  threads  calls  failed  errors  denied  interrupted
gpt    Bash        1      2     50%       1       0            0
gpt    Edit        1      2      0%       0       1            1
""",
    ),
    "the last days": (
        ["--by", "day", "--limit", "1", "--agent", "claude-code"],
        """\
day         threads    in  cached   out   cost  calls  failed
2026-03-02        1  500K     80%  4.0K  $5.25      4     25%  ██████████
… and 1 more: --limit 2

cost: estimated by list prices of the day
""",
    ),
    "the largest of others": (
        ["--by", "project", "--limit", "1", "--until", "2026-03-03T00:00Z"],
        """\
project       threads    in  cached  out    cost  calls  failed
…/lighthouse        1  1.7M     87%  16K  $15.75      8     25%

cost: estimated by list prices of the day
""",
    ),
    "since a day, in a project": (
        ["--by", "total", "--since", "2026-03-02T00:00Z", "--project", LONG],
        """\
1 thread · 1 message · 1 response
calls   4 (25% failed, 1 denied, 1 interrupted)
tokens  500K in (80% from cache, 1.0% written to it) · 4.0K out (400 reasoning)
cost    $5.25, estimated by list prices of the day
""",
    ),
}


@pytest.mark.parametrize(("arguments", "expected"), TABLES.values(), ids=TABLES)
def test_table_is_grouped_and_limited(store: str, arguments: list[str], expected: str) -> None:
    result = partita(store, "stats", "--timezone", "UTC", *arguments)
    assert (result.stdout, result.exit_code) == (expected, 0), result.stderr


def test_time_zone_of_days_can_be_set(store: str) -> None:
    shown = partita(store, "stats", "--by", "day", "--timezone", "Pacific/Auckland").stdout
    assert re.findall(r"^2026-\S+", shown, re.MULTILINE) == ["2026-03-02", "2026-03-03", "2026-03-04"]


def test_colours_are_used_on_a_terminal_only(store: str) -> None:
    assert "\x1b" not in partita(store, "stats").stdout
    shown = on_terminal(store, "stats", "--timezone", "UTC")
    assert re.sub(r"\x1b\[[0-9;]*m", "", shown).replace(" \n", "\n").splitlines()[0].startswith("2 threads")
    assert "\x1b[36mclaude-code\x1b[0m" in shown
    assert "\x1b[31m25%\x1b[0m" in shown


def rows(store: str, *arguments: str) -> list[JsonObject]:
    result = partita(store, "stats", "--json", "--timezone", "UTC", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return [loads(line) for line in result.stdout.splitlines()]


def test_json_has_exact_numbers(store: str) -> None:
    (row,) = rows(store, "--by", "model", "--model", "claude-opus")
    assert row == {
        "by": ["model"],
        "model": "claude-opus",
        "threads": 1,
        "runs": 0,
        "messages": 0,
        "responses": 2,
        "inputTokens": 1_734_567,
        "cachedInputTokens": 1_511_110,
        "cacheWriteTokens": 17_345,
        "outputTokens": 16_345,
        "reasoningTokens": 1_634,
        "cost": 15.75,
        "unpriced": 0,
        "toolCalls": 8,
        "toolErrors": 2,
        "denied": 2,
        "interrupted": 2,
    }


def test_json_names_the_grouping_and_ignores_the_limit(store: str) -> None:
    found = rows(store, "--limit", "1")
    assert [row["by"][0] for row in found] == (
        ["total"] + ["day"] * 3 + ["project"] * 2 + ["model"] * 3 + ["agent"] * 2 + ["tool"] * 2
    )
    assert [(row["day"], row["tool"]) for row in rows(store, "--by", "day,tool")][:2] == [
        ("2026-03-01", "Bash"),
        ("2026-03-01", "Edit"),
    ]
    assert [row["cost"] for row in rows(store, "--by", "model")] == [15.75, 0.004, None]


def test_empty_store_has_a_hint(tmp_path: Path) -> None:
    empty = new_store(tmp_path / "empty.db")
    result = partita(empty, "stats")
    assert (result.stdout, result.exit_code) == ("", 0)
    assert "no statistics yet; run `partita import`" in result.stderr
    assert [row["responses"] for row in rows(empty, "--by", "total")] == [0]


def test_filter_without_matches_prints_a_notice(store: str) -> None:
    result = partita(store, "stats", "--model", "nobody")
    assert (result.stdout, result.stderr, result.exit_code) == ("", "partita: no statistics\n", 0)


def test_statistics_are_limited_to_an_owner(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")

    async def of_ada(store: Store) -> None:
        await history(store.scoped("ada"))

    fill(path, of_ada)
    assert rows(path, "--resource", "ada", "--by", "total")[0]["responses"] == 4
    assert rows(path, "--resource", "bob", "--by", "total")[0]["responses"] == 0


INVALID = {
    "an unknown grouping": (["--by", "colour"], "'colour': use one of total, day,"),
    "three groupings": (["--by", "day,model,tool"], "or two such as day,model"),
    "a repeated grouping": (["--by", "day,day"], "or two such as day,model"),
    "the total and another": (["--by", "total,day"], "or two such as day,model"),
    "an unknown zone": (["--timezone", "Mars/Phobos"], "'Mars/Phobos' is not a time zone"),
    "a zone that is a path": (["--timezone", "../../etc/passwd"], "is not a time zone"),
    "an invalid time": (["--since", "sometime"], "is not a time"),
}


@pytest.mark.parametrize(("arguments", "message"), INVALID.values(), ids=INVALID)
def test_invalid_options_are_refused(store: str, arguments: list[str], message: str) -> None:
    result = partita(store, "stats", *arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_control_characters_in_names_are_escaped(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")

    async def odd(store: Store) -> None:
        await store.threads.create("t", project="\x1b[2J/srv", agent="[bold]a")
        await store.usage.record([ConsumptionRecord(thread_id="t", key="k", model="m\x1b]0;x\x07\n")])

    fill(path, odd)
    shown = partita(path, "stats").stdout
    assert "\x1b" not in shown
    assert "[bold]a" in shown


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone of a process can be changed on Unix alone")
def test_machine_zone_has_daylight_saving_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        zone = MachineZone()
        for month, hours in ((1, 1), (7, 2)):
            moment = datetime(2026, month, 1, tzinfo=UTC).astimezone(zone)
            assert moment.utcoffset() == timedelta(hours=hours)
            assert moment == datetime(2026, month, 1, tzinfo=UTC)
            assert zone.utcoffset(datetime(2026, month, 1, tzinfo=zone)) == timedelta(hours=hours)
    finally:
        monkeypatch.undo()
        time.tzset()


def test_help_has_examples(store: str) -> None:
    shown = partita(store, "stats", "--help").stdout
    assert "partita stats --by day,model" in shown
    assert "estimates" in shown


def test_command_imports_no_database_at_start() -> None:
    code = "import sys, partita.cli.stats; print([m for m in ('sqlalchemy', 'rich') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_threads_are_listed_with_their_titles_and_sorted(store: str) -> None:
    lines = partita(store, "stats", "--by", "thread").stdout.splitlines()
    assert lines[0].split()[:3] == ["id", "title", "msgs"]
    assert [line.split()[0] for line in lines[1:3]] == ["red", "blue"]
    assert "How tall?" in lines[1]
    found = [loads(line) for line in partita(store, "stats", "--by", "thread", "--json").stdout.splitlines()]
    assert [(one["thread"], one["title"], one["cost"]) for one in found] == [
        ("red", "How tall?", 15.75),
        ("blue", None, 0.004),
    ]
    by_name = partita(store, "stats", "--by", "model", "--sort", "name").stdout.splitlines()[1:4]
    assert [line.split()[0] for line in by_name] == ["claude-opus", "gpt", "homemade"]
    by_cost = partita(store, "stats", "--by", "day", "--sort", "cost", "--limit", "1").stdout.splitlines()
    assert by_cost[1].startswith("2026-03-01")


@pytest.mark.parametrize("columns", [44, 60, 80])
def test_numbers_are_never_cut(store: str, columns: int) -> None:
    shown = partita(store, "stats", "--by", "project", columns=columns).stdout.splitlines()
    assert "$15.75" in shown[1]
    assert all(len(line) <= columns for line in shown)
    assert "…" not in shown[1].split("15.75")[1]
