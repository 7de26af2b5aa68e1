"""`partita show`."""

import re
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from rich.cells import cell_len

from partita.cli.view.text import UNSAFE
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.store.values import MessageFilter
from partita.types.codec import decode_message
from partita.types.json import loads
from partita.types.messages import (
    AssistantMessage,
    AssistantPart,
    Message,
    ToolCallPart,
    UserMessage,
    UserPart,
)
from partita.types.parts import DataPart, FilePart, ImagePart, JsonOutput, ReasoningPart, TextOutput, TextPart
from tests.cli.sample_store import BUILD, CLOCK, OTHER, add_threads, fill, new_store, on_terminal, partita
from tests.cli.sample_threads import PICTURE, START, call

HOSTILE = "\x1b]0;t\x07\x1b[2J\x1b[31mred\x1b[0m a\rb\u202ec\x9b1n[bold]m[/bold]\ud83d\U000e0041"
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, add_threads)
    return path


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def show(store: str, *arguments: str) -> str:
    result = partita(store, "show", *arguments)
    assert result.exit_code == 0, result.stderr
    return result.stdout


# Selecting the thread


@pytest.mark.parametrize("given", [CLOCK, CLOCK[:10], "last"])
def test_thread_is_found_by_id_prefix_or_last(store: str, given: str) -> None:
    assert show(store, given).startswith(f"Fix the flaky clock test\n{CLOCK} · claude-code")


def test_ambiguous_prefix_lists_the_threads(store: str) -> None:
    result = partita(store, "show", "0198")
    assert (result.exit_code, result.stdout) == (1, "")
    assert (
        result.stderr
        == f"""\
error: '0198' is the beginning of 2 ids of threads
 hint: use a longer prefix:
       {CLOCK}  Fix the flaky clock test
       {BUILD}  The build is slow
"""
    )


def test_similar_id_is_suggested(store: str) -> None:
    result = partita(store, "show", OTHER.replace("4000", "4001"))
    assert result.exit_code == 1
    assert f"did you mean:\n       {OTHER}  (no title)" in result.stderr


def test_thread_with_the_text_is_suggested(store: str) -> None:
    assert f"did you mean:\n       {BUILD}" in partita(store, "show", "linker").stderr


@pytest.mark.parametrize("given", ["", "%", "_", "zebra", "0198a3c2%"])
def test_unknown_id_is_an_error(store: str, given: str) -> None:
    result = partita(store, "show", given)
    assert result.exit_code == 1
    assert "no thread" in result.stderr


def test_last_without_threads_is_an_error(tmp_path: Path) -> None:
    result = partita(new_store(tmp_path / "new.db"), "show", "last")
    assert "there are no threads with messages yet" in result.stderr


def test_id_of_several_owners_requires_the_owner(tmp_path: Path) -> None:
    async def work(opened: Store) -> None:
        for owner in ("ada", "bob"):
            await opened.threads.create("mine", title=f"of {owner}", resource_id=owner)

    path = str(tmp_path / "store.db")
    fill(path, work)
    result = partita(path, "show", "mine")
    assert result.exit_code == 1
    assert "name the owner with --resource" in result.stderr
    assert show(path, "mine", "--resource", "bob").startswith("of bob\n")


# Selecting messages


def numbers(text: str) -> list[int]:
    return [int(number) for number in re.findall(r"^#(\d+) ", text, re.MULTILINE)]


def test_active_branch_is_shown_without_internal_messages(store: str) -> None:
    shown = show(store, CLOCK)
    assert numbers(shown) == [1, 2, 3, 4, 5]
    assert "⑂ 1 other branch here\n  --branch b1  Rather wait.\n#4 user" in shown
    assert "turn-duration" not in shown


def test_other_branch_is_shown_on_request(store: str) -> None:
    shown = show(store, CLOCK, "--branch", "b")
    assert numbers(shown) == [1, 2, 3, 4]
    assert "--branch u2  Push it." in shown
    assert "no message 'zz'" in partita(store, "show", CLOCK, "--branch", "zz").stderr


def test_internal_messages_are_shown_on_request(store: str) -> None:
    assert '  · 14:02:56  ◆ turn-duration  {"durationMs":41000}' in show(store, CLOCK, "--internal")
    assert numbers(show(store, CLOCK, "--internal")) == [1, 2, 3, 4, 5]


def test_messages_are_shown_from_a_number(store: str) -> None:
    shown = show(store, CLOCK, "--start", "4")
    assert numbers(shown) == [4, 5]
    assert "… 3 earlier messages" in shown


def test_last_messages_are_shown(store: str) -> None:
    assert numbers(show(store, CLOCK, "--last", "2")) == [4, 5]
    assert numbers(show(store, CLOCK, "--last", "99")) == [1, 2, 3, 4, 5]


def test_number_after_the_last_one_is_an_error(store: str) -> None:
    result = partita(store, "show", CLOCK, "--start", "6")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "no message 6 on this branch" in result.stderr
    assert "the last one is 5" in result.stderr


def test_empty_thread_is_shown(store: str) -> None:
    assert show(store, OTHER).startswith("(no title)\n")


def test_full_folds_nothing(store: str) -> None:
    folded, whole = show(store, CLOCK), show(store, CLOCK, "--full")
    assert "more lines" in folded
    assert "--full shows them" in folded
    assert "more lines" not in whole
    assert "Nothing about clocks." in whole


# Data


def test_json_equals_the_stored_messages(store: str) -> None:
    stored: list[Message] = []

    async def read(opened: Store) -> None:
        stored.extend(await opened.messages.list(CLOCK, MessageFilter(internal=None), limit=None))

    fill(store, read)
    lines = show(store, CLOCK, "--json", "--internal").splitlines()
    assert [decode_message(line) for line in lines] == stored


def test_json_is_limited_to_the_selection(store: str) -> None:
    lines = show(store, CLOCK, "--json", "--last", "1").splitlines()
    assert [loads(line)["id"] for line in lines] == ["m2"]


def test_json_contains_large_values(tmp_path: Path) -> None:
    path = str(tmp_path / "store.db")
    message = AssistantMessage(id="m", content=[call("look", {}, TextOutput("x" * 50_000))])

    async def work(opened: Store) -> None:
        await opened.threads.create("t")
        await opened.messages.save([message], thread_id="t")

    fill(path, work)
    (line,) = show(path, "t", "--json").splitlines()
    assert decode_message(line).content == message.content


def test_messages_are_printed_in_another_format(store: str) -> None:
    result = partita(store, "show", BUILD, "--to", "model")
    assert loads(result.stdout) == [
        {"role": "user", "content": [{"type": "text", "text": "Why nine minutes?"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "The linker."}]},
    ]


def test_losses_are_reported(store: str) -> None:
    result = partita(store, "show", CLOCK, "--to", "ai-sdk-ui-v5")
    assert result.exit_code == 0
    assert re.fullmatch(r"partita: \d+ losses.*: .*; --losses lists all\n", result.stderr)
    listed = partita(store, "show", CLOCK, "--to", "ai-sdk-ui-v5", "--losses").stderr.splitlines()
    assert len(listed) == int(result.stderr.split()[1])
    assert all(line.startswith("partita: ") for line in listed)


@pytest.mark.parametrize(
    ("target", "start"),
    [("markdown", "# The build is slow\n\n- Agent: codex\n"), ("chatml", "<|im_start|>user\n")],
)
def test_formats_of_text_are_printed_as_text(store: str, target: str, start: str) -> None:
    assert show(store, BUILD, "--to", target).startswith(start)


@pytest.mark.parametrize(
    ("name", "message"), [("cherry", "can be read but not written"), ("modle", "did you mean 'model'")]
)
def test_unwritable_format_is_an_error(store: str, name: str, message: str) -> None:
    result = partita(store, "show", BUILD, "--to", name)
    assert (result.exit_code, result.stdout) == (1, "")
    assert message in result.stderr


def test_json_and_raw_exclude_each_other(store: str) -> None:
    assert partita(store, "show", CLOCK, "--json", "--raw").exit_code == 2


LINES = [b'{"a": "\xff\x1b[2J"}', b"", b'{"b": 1}\r', b"cut"]


@pytest.fixture
def logged(tmp_path: Path) -> str:
    async def work(opened: Store) -> None:
        await opened.threads.create("t", agent="claude-code")
        await opened.threads.create("other")
        for run, lines in (("r1", LINES[:3]), ("r2", LINES[3:])):
            await opened.runs.open("t", id=run, model="sonata-3")
            entries = [LogEntry(START + timedelta(seconds=at), raw=line) for at, line in enumerate(lines)]
            await opened.logs.append(run, [*entries, LogEntry(START)])
            await opened.runs.finish(run)
        await opened.runs.open("other", id="r3")
        await opened.logs.append("r3", [LogEntry(START, raw=b"not this")])
        await opened.messages.save([AssistantMessage(id="m", content="Hi.", run_id="r2")], thread_id="t")
        await opened.logs.seal_ended()

    path = str(tmp_path / "store.db")
    fill(path, work)
    return path


def test_raw_logs_are_printed_in_the_order_of_runs(logged: str) -> None:
    assert partita(logged, "show", "t", "--raw").stdout_bytes == b"\n".join([*LINES, b""])


def test_raw_logs_are_read_in_pages(logged: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("partita.cli.thread_data.RECORD_PAGE", 2)
    assert partita(logged, "show", "t", "--raw").stdout_bytes == b"\n".join([*LINES, b""])


def test_raw_logs_are_escaped_on_a_terminal(logged: str) -> None:
    shown = on_terminal(logged, "show", "t", "--raw")
    assert shown.startswith('{"a": "\\xff\\x1b[2J"}\n')


def test_missing_logs_are_reported(store: str) -> None:
    result = partita(store, "show", BUILD, "--raw")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "the store has no log of this thread" in result.stderr


def test_model_of_the_run_is_shown(logged: str) -> None:
    assert " · sonata-3\n" in show(logged, "t")


# Unsafe and large content


@pytest.fixture
def unsafe(tmp_path: Path) -> str:
    parts: list[AssistantPart] = [
        TextPart(HOSTILE),
        ReasoningPart(text=HOSTILE),
        call("Bash", {"command": HOSTILE}, TextOutput(HOSTILE)),
        call("Edit", {"file_path": "/\x1b[2J", "old_string": HOSTILE, "new_string": ""}, TextOutput("")),
        call("\x1b[2J", {"\x1b[2J": HOSTILE, "list": [HOSTILE]}, JsonOutput({"\u202e": HOSTILE})),
        call("TodoWrite", {"todos": [{"content": HOSTILE}]}, TextOutput("")),
        call("AskUserQuestion", {"question": HOSTILE, "options": [HOSTILE]}, TextOutput(HOSTILE)),
        call(
            "WebSearch",
            {"query": HOSTILE},
            JsonOutput({"results": [{"title": HOSTILE, "url": HOSTILE}]}),
        ),
        call(
            "Agent",
            {"prompt": HOSTILE},
            TextOutput(HOSTILE),
            children=(UserMessage(id="x", content=HOSTILE),),
        ),
        DataPart(name="\x1b[2J", data=HOSTILE),
    ]

    async def work(opened: Store) -> None:
        await opened.threads.create("t", title="\x1b[2J\u202e", agent="\x9b2J", project="/\x07")
        files: list[UserPart] = [
            FilePart(url="https://x/\x1b[2J", media_type="\x07", filename="\u202e"),
            ImagePart(url=PICTURE, name="\x1b"),
        ]
        await opened.messages.save([UserMessage(id="u", content=[TextPart(HOSTILE), *files])], thread_id="t")
        await opened.messages.save([AssistantMessage(id="a", content=parts)], thread_id="t")

    path = str(tmp_path / "store.db")
    fill(path, work)
    return path


@pytest.mark.parametrize("arguments", [[], ["--full"], ["--json"], ["--to", "ui"]], ids=" ".join)
def test_terminal_output_is_escaped(unsafe: str, arguments: list[str]) -> None:
    shown = COLOURS.sub("", on_terminal(unsafe, "show", "t", *arguments))
    assert not UNSAFE.search(shown)
    assert "[bold]m[/bold]" in shown


def test_rendered_output_in_a_pipe_is_escaped(unsafe: str) -> None:
    assert not UNSAFE.search(show(unsafe, "t", "--full"))


def test_pager_can_be_disabled(store: str) -> None:
    shown = on_terminal(store, "show", CLOCK, "--no-pager")
    assert "\x1b[1;36muser\x1b[0m" in shown
    assert "\x1b[1;31mexit 1\x1b[0m" in shown
    assert COLOURS.sub("", shown).rstrip() == COLOURS.sub("", on_terminal(store, "show", CLOCK)).rstrip()


def test_large_outputs_are_loaded_only_with_full(tmp_path: Path) -> None:
    big = "\n".join(f"line {number:<60}." for number in range(20_000))
    middle = "\n".join(f"row {number}" for number in range(5_000))

    async def work(opened: Store) -> None:
        await opened.threads.create("t")
        parts: list[ToolCallPart] = [
            call("Bash", {"command": "big"}, TextOutput(big), id="1"),
            call("Bash", {"command": "middle"}, TextOutput(middle), id="2"),
            call("look", {}, JsonOutput({"rows": [middle] * 2}), id="3"),
        ]
        await opened.messages.save([AssistantMessage(id="m", content=parts)], thread_id="t")

    path = str(tmp_path / "store.db")
    fill(path, work)
    shown = show(path, "t")
    assert "$ big\n  │ (output: 1.3 MB; --full shows it)\n" in shown
    assert "│ … 4,988 more lines\n" in shown
    assert "rows:" in shown
    assert f"line {10_000:<60}.\n" in show(path, "t", "--full")


def test_deleted_blob_is_reported(tmp_path: Path) -> None:
    gone = "blob:sha256:" + "0" * 64

    async def work(opened: Store) -> None:
        await opened.threads.create("t")
        parts: list[AssistantPart] = [
            call("look", {}, TextOutput(f"{gone}#text")),
            ImagePart(url=gone, name="lost.png"),
        ]
        await opened.messages.save([AssistantMessage(id="m", content=parts)], thread_id="t")

    path = str(tmp_path / "store.db")
    fill(path, work)
    shown = show(path, "t")
    assert "(output: deleted from the store)" in shown
    assert "▣ image  lost.png\n" in shown


@pytest.mark.parametrize("columns", [40, 80, 140])
def test_output_fits_the_width(store: str, columns: int) -> None:
    shown = partita(store, "show", CLOCK, "--full", columns=columns).stdout
    assert max(cell_len(line) for line in shown.splitlines()) <= columns
