"""`partita export`: the files that the page shares, from the command line."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import Result

from partita.cli.export_files import Made, Wanted, file_name
from partita.formats.registry import all_formats
from partita.server.app import asgi
from partita.server.page.files import web_files
from partita.store.connection import open_store
from partita.store.logs.run_log import LogEntry
from partita.store.store import Store
from partita.types.codec import MESSAGES
from partita.types.json import loads
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import ReasoningPart, TextOutput, TextPart
from partita.types.threads import Thread
from tests.cli.view_store import BUILD, CLOCK, OTHER, fill, on_terminal, partita, threads
from tests.cli.view_threads import BEGAN
from tests.converting import read_lines
from tests.tables import each_row

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
DEPLOY = "deploy-1"
RAW = b'{"line":1}\n\xff\x00 no text'


async def more(store: Store) -> None:
    """The threads of the other commands, one that tells a secret, and one id that two owners have."""
    await threads(store)
    await store.threads.create(DEPLOY, title=f"Deploy with {TOKEN}", agent="deployer")
    call = ToolCallPart(
        id="c1",
        name="Bash",
        state="output-available",
        input={"command": "deploy"},
        output=TextOutput(value=f"said {TOKEN}"),
    )
    await store.messages.save(
        [
            UserMessage(id="m1", content=f"Use {TOKEN} for Lighthouse."),
            AssistantMessage(
                id="m2",
                content=[ReasoningPart("Careful: /home/kari/shop."), call, TextPart("\x1b[31mDone\x1b[0m.")],
            ),
            UserMessage(id="hidden", content="A notice.", internal=True),
        ],
        thread_id=DEPLOY,
    )
    await store.runs.open(DEPLOY, id="r1", agent="deployer")
    await store.logs.append("r1", [LogEntry(BEGAN, raw=RAW), LogEntry(BEGAN, raw=b"last\n")])
    await store.runs.finish("r1")
    for owner in ("ada", "bo"):
        await store.scoped(owner).threads.create("Shared/Id", title="Whose?", agent="twin")
        await store.scoped(owner).messages.save([UserMessage(id="x", content=owner)], thread_id="Shared/Id")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, more)
    return path


@pytest.fixture
def reader(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A reader of shared files, as a build leaves it."""
    page = tmp_path_factory.mktemp("page")
    (page / "reader").mkdir()
    (page / "reader" / "reader.js").write_text("read();")
    (page / "reader" / "reader.css").write_text("body { color: red }")
    (page / "index.html").write_text("<!doctype html>")
    monkeypatch.setenv("PARTITA_PAGE", str(page))
    web_files.cache_clear()
    yield
    web_files.cache_clear()


def export(store: str, *arguments: str | Path) -> Result:
    result = partita(store, "export", *map(str, arguments))
    assert result.exit_code == 0, result.stderr
    return result


def refused(store: str, *arguments: str | Path) -> Result:
    result = partita(store, "export", *map(str, arguments))
    assert result.exit_code != 0
    assert "internal error" not in result.stderr
    return result


# What is in a file


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(
    ("name", "body"),
    {
        "html": {"format": "html"},
        "markdown": {"format": "markdown"},
        "jsonl": {"format": "jsonl"},
        "fixture": {"format": "fixture"},
        "ui": {"format": "jsonl", "as": "ui"},
    }.items(),
)
def test_it_is_the_file_that_the_page_shares(store: str, name: str, body: dict[str, str]) -> None:
    async def shared() -> bytes:
        async with open_store(store) as opened:
            app = asgi(store=opened)
            async with (
                app.lifespan(),
                httpx.AsyncClient(
                    transport=httpx.ASGITransport(app=app), base_url="http://localhost"
                ) as client,
            ):
                answer = await client.post(f"/api/threads/{DEPLOY}/share", json=body)
                assert answer.status_code == 200, answer.text
                return answer.content

    result = export(store, DEPLOY, "--format", name)
    assert result.stdout_bytes == asyncio.run(shared())
    assert TOKEN not in result.stdout
    assert "replaced github-token ghp_" in result.stderr
    assert TOKEN not in result.stderr


def test_what_is_left_out_and_replaced_is_told(store: str) -> None:
    result = export(
        store, DEPLOY, "--format", "jsonl", "--leave-out", "reasoning", "--leave-out", "tool-outputs",
        "--also", "Lighthouse",
    )  # fmt: skip
    assert "Careful" not in result.stdout
    assert "said" not in result.stdout
    assert "Lighthouse" not in result.stdout
    assert "partita: left out reasoning, once\n" in result.stderr
    assert "partita: left out the output of a tool, once\n" in result.stderr
    assert "by [redacted: custom 1], once, first at $[0].content.parts[0].text\n" in result.stderr


def test_secrets_stay_when_that_is_wanted(store: str) -> None:
    result = export(store, DEPLOY, "--no-redact", "--format", "jsonl")
    assert result.stdout.count(TOKEN) == 2
    assert result.stderr == ""


def test_a_kind_that_is_named_is_found_besides_the_others(store: str) -> None:
    usual = export(store, DEPLOY, "--format", "jsonl")
    more = export(store, DEPLOY, "--secret", "home", "--secret", "email", "--format", "jsonl")
    assert TOKEN not in more.stdout
    assert more.stdout == usual.stdout.replace("/home/kari/", "/home/[redacted: user 1]/")
    assert more.stdout != usual.stdout


def test_a_branch_and_what_is_hidden(store: str) -> None:
    def ids(*arguments: str) -> list[str]:
        lines = export(store, *arguments, "--format", "jsonl").stdout.splitlines()
        return [message.id for message in MESSAGES.read([loads(line) for line in lines])]

    assert ids(CLOCK) == ["s1", "u1", "m1", "u2", "m2"]
    assert ids(CLOCK, "--branch", "b1") == ["s1", "u1", "m1", "b1"]
    assert ids(DEPLOY) == ["m1", "m2"]
    assert ids(DEPLOY, "--internal") == ["m1", "m2", "hidden"]


def test_every_format_that_can_be_written(store: str, tmp_path: Path) -> None:
    for name in [name for name, one in all_formats().items() if one.dump is not None]:
        export(store, DEPLOY, "--format", name, "-o", tmp_path / name)
        assert read_lines((tmp_path / name).read_text(), name)


def test_a_session_written_back_is_read_again(store: str, tmp_path: Path) -> None:
    export(store, BUILD, "--format", "claude-code-log", "-o", tmp_path / "session.jsonl")
    result = partita(store, "convert", str(tmp_path / "session.jsonl"), "--to", "canonical")
    assert result.exit_code == 0, result.stderr
    assert "The linker." in result.stdout


SESSION_FILES = {"claude-code": "~/.claude/projects/-srv-build/", "codex": "~/.codex/sessions/"}


@each_row(("name", "place"), SESSION_FILES.items(), ids=SESSION_FILES)
def test_a_session_file_has_the_known_folder_and_says_where_it_is_resumed(
    store: str, tmp_path: Path, name: str, place: str
) -> None:
    path = tmp_path / f"{name}.jsonl"
    result = export(store, BUILD, "--format", name, "-o", path)
    records = [loads(line) for line in path.read_text().splitlines()]
    cwds = [record.get("cwd") or record.get("payload", {}).get("cwd") for record in records]
    assert {cwd for cwd in cwds if cwd} == {"/srv/build"}
    (notice,) = [line for line in result.stderr.splitlines() if "to resume the session" in line]
    assert place in notice
    assert notice.endswith(f"{BUILD}.jsonl")
    again = partita(store, "convert", str(path), "--to", "canonical")
    texts = [
        part.get("text") for line in again.stdout.splitlines() for part in loads(line)["content"]["parts"]
    ]
    assert "The linker." in texts


def test_losses_are_told_ten_and_how_many_more(store: str, tmp_path: Path) -> None:
    result = export(store, CLOCK, "--format", "ui", "-o", tmp_path / "a.jsonl")
    lines = result.stderr.splitlines()
    assert all(line.startswith("partita: lost $[") for line in lines[:10])
    told = loads(export(store, CLOCK, "--format", "ui", "-o", tmp_path / "b.jsonl", "--json").stdout)
    assert lines[10] == f"partita: … and {len(told['losses']) - 10} more; -o FILE --json tells all"
    assert told["file"] == str(tmp_path / "b.jsonl")
    assert (told["thread"], told["messages"], told["format"]) == (CLOCK, 5, "ui")
    assert told["bytes"] == (tmp_path / "b.jsonl").stat().st_size


def test_raw_logs_byte_for_byte(store: str, tmp_path: Path) -> None:
    result = export(store, DEPLOY, "--format", "raw")
    assert result.stdout_bytes == RAW + b"\nlast\n"
    assert "secrets are not taken out" in result.stderr
    assert result.stdout_bytes == partita(store, "show", DEPLOY, "--raw").stdout_bytes
    assert "the store has no log of this thread" in export(store, BUILD, "--format", "raw").stderr


def test_a_terminal_is_not_told_what_it_would_obey(store: str) -> None:
    drawn = on_terminal(store, "export", DEPLOY)
    assert "\\x1b[31mDone\\x1b[0m." in drawn
    assert "\x1b[31m" not in drawn


# Where it goes


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(
    ("ending", "start"),
    [("html", "<!doctype html>"), ("md", "# The build"), ("jsonl", '{"role":'), ("json", "{")],
)
def test_the_ending_says_the_format(store: str, tmp_path: Path, ending: str, start: str) -> None:
    path = tmp_path / "deep" / f"a.{ending}"
    result = export(store, BUILD, "-o", path)
    assert path.read_text().startswith(start)
    assert ending != "json" or "partita" in loads(path.read_text())
    assert (result.stdout, result.stderr.splitlines()[-1][:16]) == ("", "partita: wrote /")


def test_a_file_that_is_there_stays(store: str, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("mine")
    assert "the file is there already" in refused(store, BUILD, "-o", path).stderr
    assert path.read_text() == "mine"
    export(store, BUILD, "-o", path, "--force")
    assert path.read_text().startswith("# The build is slow")
    assert [one.name for one in tmp_path.iterdir()] == ["a.md"]


def test_many_threads_get_a_file_each_and_the_same_name_each_time(store: str, tmp_path: Path) -> None:
    result = export(store, "--all", "--format", "jsonl", "-o", tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(names) == 6
    assert any(name.endswith(f"-the-build-is-slow-{BUILD}.jsonl") for name in names)
    assert any(name.endswith(f"-conversation-{OTHER}.jsonl") for name in names)
    assert any(name.endswith(f"-deploy-with-redacted-github-token-1-{DEPLOY}.jsonl") for name in names)
    shared = [path for path in (tmp_path / "out").iterdir() if "shared-id" in path.name]
    assert sorted(loads(path.read_text())["content"]["parts"][0]["text"] for path in shared) == ["ada", "bo"]
    assert f"partita: thread {DEPLOY}: 1 secret replaced\n" in result.stderr
    assert f"partita: wrote 6 files to {tmp_path / 'out'}: " in result.stderr
    again = refused(store, "--all", "--format", "jsonl", "-o", tmp_path / "out")
    assert again.exit_code == 1
    assert "partita: 6 threads were not written\n" in again.stderr
    export(store, "--all", "--format", "jsonl", "-o", tmp_path / "out", "--force")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names


def test_threads_by_what_they_are_or_by_name(store: str, tmp_path: Path) -> None:
    def written(*arguments: str | Path) -> list[Any]:
        result = export(store, *arguments, "--json", "-o", tmp_path / str(len(list(tmp_path.iterdir()))))
        return sorted(loads(line)["thread"] for line in result.stdout.splitlines())

    assert written("--agent", "codex") == [BUILD, OTHER]
    assert written("--project", "/srv/build") == [BUILD]
    assert written("--since", "4h") == sorted([CLOCK, DEPLOY, "Shared/Id", "Shared/Id"])
    assert written("--until", "7h") == [OTHER]
    assert written(BUILD, OTHER, BUILD[:12]) == [BUILD, OTHER]
    assert "no threads" in export(store, "--agent", "nobody", "-o", tmp_path / "none").stderr


def test_one_of_many_that_fails_stops_no_other(store: str, tmp_path: Path) -> None:
    export(store, BUILD, "-o", f"{tmp_path}/")
    result = refused(store, "--agent", "codex", "-o", tmp_path, "--json")
    told = {loads(line)["thread"]: loads(line) for line in result.stdout.splitlines()}
    assert told[BUILD]["error"] == "the file is there already"
    assert Path(told[OTHER]["file"]).exists()


@each_row(
    ("thread", "end"),
    [
        (Thread(id="abc-1"), "abc-1.md"),
        (Thread(id="abc-1", resource_id="ada"), "abc-1-"),
        (Thread(id="ABC-1"), "abc-1-"),
        (Thread(id="../../etc/passwd"), "etc-passwd-"),
        (Thread(id="\ud83d☃"), "-"),
        (Thread(id="x" * 300), "x" * 24 + "-"),
    ],
)
def test_names_hold_the_id_and_nothing_that_a_disk_would_mind(thread: Thread, end: str) -> None:
    name = file_name(thread, Made(thread, Wanted("markdown", None, None, False), "title", "md", ()))
    assert name.startswith(f"title-{end}" if end != "-" else "title-")
    assert len(name) < 120
    assert name.isascii()
    assert not set(name) & set("/\\:\0 ")


def test_two_ids_never_share_a_name() -> None:
    wanted = Wanted("markdown", None, None, False)
    ids = ["a", "A", "a ", "a/", "a-", "a_", "ä", "", " ", "x" * 64, "x" * 65, "X" * 64]
    every = [Thread(id=one, resource_id=owner) for one in ids for owner in (None, "a", "A")]
    names = {file_name(one, Made(one, wanted, "t", "md", ())).lower() for one in every}
    assert len(names) == len(every)


# What is wrong


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name threads, or choose them"),
        ([BUILD, "--all"], "name threads, or choose them"),
        (["--all"], "-o says where files go"),
        ([BUILD, OTHER], "-o says where files go"),
        ([BUILD, "--json"], "--json needs -o FILE"),
        (["--all", "--branch", "m1", "-o", "x"], "--branch is of one thread"),
        ([BUILD, "--leave-out", "nonsense"], "say one of reasoning, tool-outputs"),
        ([BUILD, "--secret", "nonsense"], "say one of private-key"),
        ([BUILD, "--no-redact", "--also", "x"], "--no-redact replaces nothing"),
        ([BUILD, "--format", "raw", "--redact"], "nothing of it is replaced"),
        ([BUILD, "--format", "raw", "--leave-out", "files"], "nothing of it is replaced"),
        ([BUILD, "--format", "nonsense"], "no format 'nonsense'"),
        ([BUILD, "--format", "cherry"], "can be read but not written"),
        ([BUILD, "--branch", "nonsense"], "no message 'nonsense'"),
        (["nonsense"], "no thread 'nonsense'"),
        (["Shared/Id"], "name the owner with --resource"),
    ],
)
def test_what_cannot_be_done_is_told(store: str, arguments: list[str], words: str) -> None:
    result = refused(store, *arguments)
    assert words in result.stderr
    assert result.stdout == ""


def test_places_that_cannot_be_written_to(store: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert "this is no folder" in refused(store, "--all", "-o", tmp_path / "file").stderr
    assert "cannot be written" in refused(store, BUILD, "-o", tmp_path / "file" / "a.md").stderr
