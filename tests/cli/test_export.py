"""`partita export`."""

import asyncio
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import Result

from partita.cli.export_files import ExportedFile, FileOptions, file_name
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
from tests.cli.sample_store import BUILD, CLOCK, OTHER, add_threads, fill, on_terminal, partita
from tests.cli.sample_threads import START
from tests.converting import read_lines
from tests.tables import each_row

TOKEN = "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
DEPLOY = "deploy-1"
RAW = b'{"line":1}\n\xff\x00 no text'


async def add_all(store: Store) -> None:
    """Add the sample threads, a thread with secrets, and a thread id of two owners."""
    await add_threads(store)
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
    await store.logs.append("r1", [LogEntry(START, raw=RAW), LogEntry(START, raw=b"last\n")])
    await store.runs.finish("r1")
    for owner in ("ada", "bo"):
        await store.scoped(owner).threads.create("Shared/Id", title="Whose?", agent="twin")
        await store.scoped(owner).messages.save([UserMessage(id="x", content=owner)], thread_id="Shared/Id")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("store") / "store.db")
    fill(path, add_all)
    return path


@pytest.fixture
def reader(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A build of the web UI with a reader for shared files."""
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


# Content


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(
    ("name", "body"),
    {
        "html": {"format": "html"},
        "markdown": {"format": "markdown"},
        "jsonl": {"format": "jsonl"},
        "json": {"format": "json"},
        "ui": {"format": "jsonl", "as": "ui"},
    }.items(),
)
def test_file_equals_the_file_that_the_server_shares(store: str, name: str, body: dict[str, str]) -> None:
    async def shared() -> bytes:
        async with open_store(store) as opened:
            app = asgi(store=opened)
            async with (
                app.lifespan(),
                httpx.AsyncClient(
                    transport=httpx.ASGITransport(app=app), base_url="http://localhost"
                ) as client,
            ):
                response = await client.post(f"/api/threads/{DEPLOY}/share", json=body)
                assert response.status_code == 200, response.text
                return response.content

    result = export(store, DEPLOY, "--to", name)
    assert result.stdout_bytes == asyncio.run(shared())
    assert TOKEN not in result.stdout
    assert "replaced github-token ghp_" in result.stderr
    assert TOKEN not in result.stderr


def test_left_out_and_replaced_content_is_reported(store: str) -> None:
    result = export(
        store, DEPLOY, "--to", "jsonl", "--leave-out", "reasoning", "--leave-out", "tool-outputs",
        "--replace", "Lighthouse",
    )  # fmt: skip
    assert "Careful" not in result.stdout
    assert "said" not in result.stdout
    assert "Lighthouse" not in result.stdout
    assert "partita: left out reasoning, once\n" in result.stderr
    assert "partita: left out the output of a tool, once\n" in result.stderr
    assert "with [redacted: custom 1], once, first at $[0].content.parts[0].text\n" in result.stderr


def test_secrets_are_kept_with_no_redact(store: str) -> None:
    result = export(store, DEPLOY, "--no-redact", "--to", "jsonl")
    assert result.stdout.count(TOKEN) == 2
    assert result.stderr == ""


def test_additional_kind_of_secret_is_replaced(store: str) -> None:
    default = export(store, DEPLOY, "--to", "jsonl")
    more = export(store, DEPLOY, "--secret", "home", "--secret", "email", "--to", "jsonl")
    assert TOKEN not in more.stdout
    assert more.stdout == default.stdout.replace("/home/kari/", "/home/[redacted: user 1]/")
    assert more.stdout != default.stdout


def test_branch_and_internal_messages_are_selected(store: str) -> None:
    def ids(*arguments: str) -> list[str]:
        lines = export(store, *arguments, "--to", "jsonl").stdout.splitlines()
        return [message.id for message in MESSAGES.read([loads(line) for line in lines])]

    assert ids(CLOCK) == ["s1", "u1", "m1", "u2", "m2"]
    assert ids(CLOCK, "--branch", "b1") == ["s1", "u1", "m1", "b1"]
    assert ids(DEPLOY) == ["m1", "m2"]
    assert ids(DEPLOY, "--internal") == ["m1", "m2", "hidden"]


def test_every_writable_format_is_exported(store: str, tmp_path: Path) -> None:
    for name in [name for name, one in all_formats().items() if one.dump is not None]:
        export(store, DEPLOY, "--to", name, "-o", tmp_path / name)
        assert read_lines((tmp_path / name).read_text(), name)


def test_exported_session_can_be_read(store: str, tmp_path: Path) -> None:
    export(store, BUILD, "--to", "claude-code-log", "-o", tmp_path / "session.jsonl")
    result = partita(store, "convert", str(tmp_path / "session.jsonl"), "--to", "canonical")
    assert result.exit_code == 0, result.stderr
    assert "The linker." in result.stdout


SESSION_FILES = {"claude-code": "~/.claude/projects/-srv-build/", "codex": "~/.codex/sessions/"}


@each_row(("name", "place"), SESSION_FILES.items(), ids=SESSION_FILES)
def test_session_file_has_the_project_folder_and_a_notice_how_to_resume_it(
    store: str, tmp_path: Path, name: str, place: str
) -> None:
    path = tmp_path / f"{name}.jsonl"
    result = export(store, BUILD, "--to", name, "-o", path)
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


def test_losses_are_summarized_or_listed(store: str, tmp_path: Path) -> None:
    result = export(store, CLOCK, "--to", "ui", "-o", tmp_path / "a.jsonl")
    report = loads(export(store, CLOCK, "--to", "ui", "-o", tmp_path / "b.jsonl", "--json").stdout)
    summary, _ = result.stderr.splitlines()
    assert summary.startswith(f"partita: {len(report['losses'])} losses")
    assert summary.endswith("--losses lists all")
    listed = export(store, CLOCK, "--to", "ui", "-o", tmp_path / "c.jsonl", "--losses").stderr
    assert all(one["path"] in listed for one in report["losses"])
    assert report["file"] == str(tmp_path / "b.jsonl")
    assert (report["thread"], report["messages"], report["format"]) == (CLOCK, 5, "ui")
    assert (report["bytes"], report["outcome"]) == ((tmp_path / "b.jsonl").stat().st_size, "written")


def test_raw_logs_are_exported_byte_for_byte(store: str, tmp_path: Path) -> None:
    result = export(store, DEPLOY, "--to", "raw")
    assert result.stdout_bytes == RAW + b"\nlast\n"
    assert "raw logs contain secrets" in result.stderr
    assert result.stdout_bytes == partita(store, "show", DEPLOY, "--raw").stdout_bytes
    assert "the store has no log of this thread" in export(store, BUILD, "--to", "raw").stderr


def test_output_on_a_terminal_is_escaped(store: str) -> None:
    shown = on_terminal(store, "export", DEPLOY)
    assert "\\x1b[31mDone\\x1b[0m." in shown
    assert "\x1b[31m" not in shown


# Files


@pytest.mark.usefixtures("reader")
@pytest.mark.parametrize(
    ("suffix", "start"),
    [
        ("html", "<!doctype html>"),
        ("MD", "# The build"),
        ("markdown", "# The build"),
        ("jsonl", '{"role":'),
        ("json", "[\n{"),
    ],
)
def test_suffix_selects_the_format(store: str, tmp_path: Path, suffix: str, start: str) -> None:
    path = tmp_path / f"a.{suffix}"
    result = export(store, BUILD, "-o", path)
    assert path.read_text().startswith(start)
    assert suffix != "json" or [one["threadId"] for one in loads(path.read_text())] == [BUILD] * 2
    assert (result.stdout, result.stderr.splitlines()[-1][:16]) == ("", "partita: wrote /")


def test_format_of_messages_is_one_document_or_lines_by_the_suffix(store: str, tmp_path: Path) -> None:
    export(store, CLOCK, "--to", "ui", "-o", tmp_path / "a.json")
    export(store, CLOCK, "--to", "ui", "-o", tmp_path / "a.jsonl")
    lines = [loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert loads((tmp_path / "a.json").read_text()) == lines
    export(store, CLOCK, "--to", "anthropic", "-o", tmp_path / "b.json")
    assert "messages" in loads((tmp_path / "b.json").read_text())


@each_row(
    "target, message",
    [
        ("a.txt", "unknown file extension '.txt'\n   at: a.txt\n hint: use one of .html,"),
        ("a", "no file extension"),
        ("missing/a.md", "no such folder\n   at: missing\n hint: create it: mkdir -p missing"),
        ("missing/folder/", "no such folder"),
    ],
)
def test_target_without_a_known_extension_or_folder_is_refused(store: str, target: str, message: str) -> None:
    assert message in refused(store, BUILD, "-o", target).stderr
    assert message == "no file extension" or message in refused(store, "--all", "-o", target).stderr


def test_existing_file_is_not_overwritten(store: str, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("mine")
    assert "the file already exists" in refused(store, BUILD, "-o", path).stderr
    assert path.read_text() == "mine"
    export(store, BUILD, "-o", path, "--force")
    assert path.read_text().startswith("# The build is slow")
    assert [one.name for one in tmp_path.iterdir()] == ["a.md"]


def test_each_thread_has_a_file_with_a_stable_name(store: str, tmp_path: Path) -> None:
    result = export(store, "--all", "--to", "jsonl", "-o", tmp_path / "out")
    names = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert len(names) == 6
    assert any(name.endswith(f"-the-build-is-slow-{BUILD}.jsonl") for name in names)
    assert any(name.endswith(f"-conversation-{OTHER}.jsonl") for name in names)
    assert any(name.endswith(f"-deploy-with-redacted-github-token-1-{DEPLOY}.jsonl") for name in names)
    shared = [path for path in (tmp_path / "out").iterdir() if "shared-id" in path.name]
    assert sorted(loads(path.read_text())["content"]["parts"][0]["text"] for path in shared) == ["ada", "bo"]
    assert f"partita: thread {DEPLOY}: 1 secret replaced\n" in result.stderr
    assert f"partita: wrote 6 files to {tmp_path / 'out'}: " in result.stderr
    arguments = ("--all", "--to", "jsonl", "-o", tmp_path / "out")
    again = export(store, *arguments)
    assert again.stderr.splitlines()[-1] == "partita: 6 files are unchanged: the content is the same"
    assert "wrote" not in again.stderr
    changed = tmp_path / "out" / names[0]
    changed.write_text("mine")
    conflict = refused(store, *arguments)
    assert conflict.exit_code == 1
    assert "partita: 1 file exists with other content; --force overwrites" in conflict.stderr
    assert export(store, *arguments, "--skip-existing").stderr == "partita: 6 existing files were skipped\n"
    assert changed.read_text() == "mine"
    export(store, *arguments, "--force")
    assert changed.read_text() != "mine"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names


@pytest.mark.usefixtures("reader")
def test_several_threads_are_written_into_one_file(store: str, tmp_path: Path) -> None:
    selected = ("--agent", "codex")
    outputs = [export(store, one, "--to", "jsonl").stdout for one in (BUILD, OTHER)]
    lines = [line for output in outputs for line in output.splitlines()]
    for suffix in ("json", "jsonl", "md", "html"):
        result = export(store, *selected, "-o", tmp_path / f"all.{suffix}")
        assert ", 2 threads\n" in result.stderr
    array = loads((tmp_path / "all.json").read_text())
    assert sorted(map(str, array)) == sorted(str(loads(line)) for line in lines)
    assert sorted((tmp_path / "all.jsonl").read_text().splitlines()) == sorted(lines)
    markdown = (tmp_path / "all.md").read_text()
    assert (markdown.count("\n# "), markdown.count("\n---\n")) == (1, 1)
    page = (tmp_path / "all.html").read_text()
    data = {name: loads(text) for name, text in ELEMENT.findall(page)}
    assert [one["element"] for one in data["partita"]["threads"]] == ["thread-1", "thread-2"]
    for one in data["partita"]["threads"]:
        held = data[one["element"]]
        assert (held["thread"], len(held["messages"])) == (one["thread"], one["messages"])
    assert "has one thread" in refused(store, *selected, "--to", "ui", "-o", tmp_path / "all.ui").stderr
    assert "has one thread" in refused(store, *selected, "--to", "raw", "-o", tmp_path / "all.log").stderr


ELEMENT = re.compile(r'<script type="application/json" id="([^"]+)">(.*?)</script>')


def test_exported_claude_code_session_can_be_imported_with_its_sub_agents(tmp_path: Path) -> None:
    first, second = str(tmp_path / "first.db"), str(tmp_path / "second.db")
    assert partita(first, "import", "--demo").exit_code == 0
    demo = "7c1f4c5e-2f0a-4d0b-9a52-6b1d2f7c9e10"
    for output in (f"{tmp_path}/folder/", f"{tmp_path}/file/session.jsonl"):
        (tmp_path / "file").mkdir(exist_ok=True)
        assert "1 sub-agent written to" in export(first, demo, "--to", "claude-code", "-o", output).stderr
        Path(second).unlink(missing_ok=True)
        folder = str(tmp_path / "file") if output.endswith(".jsonl") else output
        assert partita(second, "import", folder).exit_code == 0
        shown = [partita(store, "show", demo, "--full").stdout for store in (first, second)]
        assert shown[0] == shown[1]
        assert "Find every place in the lamp package" in shown[0]


def test_threads_are_selected_by_filter_or_id(store: str, tmp_path: Path) -> None:
    def written(*arguments: str | Path) -> list[Any]:
        result = export(store, *arguments, "--json", "-o", tmp_path / str(len(list(tmp_path.iterdir()))))
        return sorted(loads(line)["thread"] for line in result.stdout.splitlines())

    assert written("--agent", "codex") == [BUILD, OTHER]
    assert written("--project", "/srv/build") == [BUILD]
    assert written("--since", "4h") == sorted([CLOCK, DEPLOY, "Shared/Id", "Shared/Id"])
    assert written("--until", "7h") == [OTHER]
    assert written(BUILD, OTHER, BUILD[:12]) == [BUILD, OTHER]
    assert "no threads" in export(store, "--project", "nowhere", "-o", tmp_path / "none").stderr


def test_failure_of_one_file_does_not_stop_the_others(store: str, tmp_path: Path) -> None:
    export(store, BUILD, "-o", f"{tmp_path}/")
    for path in tmp_path.iterdir():
        path.write_text("mine")
    result = refused(store, "--agent", "codex", "-o", tmp_path, "--json")
    reports = {loads(line)["thread"]: loads(line) for line in result.stdout.splitlines()}
    assert reports[BUILD]["error"] == "the file already exists"
    assert Path(reports[OTHER]["file"]).exists()


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
def test_file_name_contains_the_id_and_only_safe_characters(thread: Thread, end: str) -> None:
    name = file_name(ExportedFile(thread, FileOptions("markdown", None, None, False), "title", "md", ()))
    assert name.startswith(f"title-{end}" if end != "-" else "title-")
    assert len(name) < 120
    assert name.isascii()
    assert not set(name) & set("/\\:\0 ")


def test_file_names_are_unique() -> None:
    options = FileOptions("markdown", None, None, False)
    ids = ["a", "A", "a ", "a/", "a-", "a_", "ä", "", " ", "x" * 64, "x" * 65, "X" * 64]
    every = [Thread(id=one, resource_id=owner) for one in ids for owner in (None, "a", "A")]
    names = {file_name(ExportedFile(one, options, "t", "md", ())).lower() for one in every}
    assert len(names) == len(every)


# Errors


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name threads, or select them"),
        ([BUILD, "--all"], "name threads, or select them"),
        (["--all"], "several threads require -o FOLDER"),
        ([BUILD, OTHER], "several threads require -o FOLDER"),
        ([BUILD, "--json"], "--json requires -o FILE"),
        (["--all", "--branch", "m1", "-o", "x"], "--branch requires exactly one thread"),
        (["--all", "--force", "--skip-existing", "-o", "x"], "exclude each other"),
        ([BUILD, "--to", "fixture"], "use `partita fixture`"),
        ([BUILD, "--leave-out", "nonsense"], "use one of reasoning, tool-outputs"),
        ([BUILD, "--secret", "nonsense"], "use one of private-key"),
        ([BUILD, "--no-redact", "--replace", "x"], "--no-redact cannot be used with"),
        ([BUILD, "--to", "raw", "--redact"], "nothing can be replaced or left out"),
        ([BUILD, "--to", "raw", "--leave-out", "files"], "nothing can be replaced or left out"),
        ([BUILD, "--to", "nonsense"], "no format 'nonsense'"),
        ([BUILD, "--to", "cherry"], "can be read but not written"),
        ([BUILD, "--branch", "nonsense"], "no message 'nonsense'"),
        (["nonsense"], "no thread 'nonsense'"),
        (["Shared/Id"], "name the owner with --resource"),
    ],
)
def test_invalid_arguments_are_refused(store: str, arguments: list[str], message: str) -> None:
    result = refused(store, *arguments)
    assert message in result.stderr
    assert result.stdout == ""


def test_unwritable_target_is_reported(store: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    assert "not a folder" in refused(store, "--all", "-o", tmp_path / "file").stderr
    assert "no such folder" in refused(store, BUILD, "-o", tmp_path / "file" / "a.md").stderr
