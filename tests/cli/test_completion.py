"""Shell completion."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from partita.cli.completion import NEWEST
from partita.cli.main import COMMANDS, cli
from partita.store.store import Store
from tests.cli.sample_store import BUILD, CLOCK, OTHER, add_threads, fill
from tests.tables import each_row


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("completion") / "store.db")
    fill(path, add_threads)
    return path


def completed(*words: str, store: str = "memory:") -> dict[str, str]:
    """Return the candidates for the last word and their descriptions, as for zsh."""
    environment = {
        "_PARTITA_COMPLETE": "zsh_complete",
        "COMP_WORDS": " ".join(["partita", *words]),
        "COMP_CWORD": str(len(words)),
        "PARTITA_STORE": store,
    }
    result = CliRunner().invoke(cli, [], prog_name="partita", env=environment)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    items: dict[str, str] = {}
    for kind, value, description in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        assert kind in ("plain", "file", "dir")
        items[value] = description
    return items


CASES = {
    "commands": (("thr",), {"threads"}),
    "options": (("threads", "--li"), {"--limit"}),
    "formats": (("convert", "--to", "ai-sdk-ui-v"), {f"ai-sdk-ui-v{n}" for n in (4, 5, 6, 7)}),
    "aliases of formats": (("show", "last", "--to", "canon"), {"canonical"}),
    "agents to import": (("import", "--agent", ""), {"claude-code", "codex", "gemini-cli", "opencode"}),
    "agents to serve": (("serve", "--agent", "cla"), {"claude-code"}),
    "settings": (("config", "get", "serve.p"), {"serve.port"}),
    "shells": (("completion", ""), {"bash", "zsh", "fish"}),
    "systems": (("import", "--from", "mastr"), {"mastra", "mastra-v1", "mastra-v2", "mastra-stream"}),
}


@each_row(("words", "expected"), CASES.values(), ids=CASES)
def test_arguments_are_completed(words: tuple[str, ...], expected: set[str]) -> None:
    assert completed(*words).keys() == expected


def test_commands_are_completed_with_descriptions() -> None:
    candidates = completed("")
    assert candidates.keys() == COMMANDS.keys()
    assert candidates["threads"].startswith("List the threads")


def test_threads_are_completed_newest_first_with_titles(store: str) -> None:
    candidates = completed("show", "", store=store)
    assert list(candidates) == ["last", CLOCK, BUILD, OTHER]
    assert candidates[CLOCK] == "Fix the flaky clock test"
    assert completed("fork", BUILD[:12], store=store).keys() == {BUILD}
    assert completed("search", "--thread", "77", store=store).keys() == {OTHER}


def test_store_option_selects_the_store_for_completion(store: str) -> None:
    assert CLOCK in completed("show", "--store", store, "01")


def test_control_characters_in_titles_are_removed(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        await store.threads.create("t", title="red \x1b[31m\nlamp" + "x" * 200)

    fill(str(tmp_path / "s.db"), work)
    description = completed("show", "t", store=str(tmp_path / "s.db"))["t"]
    assert description.startswith("red [31m lampx")
    assert len(description) == 80


def test_newest_runs_are_completed(tmp_path: Path) -> None:
    async def work(store: Store) -> None:
        await store.threads.create("t", title="The lamp")
        for number in range(NEWEST + 5):
            run = await store.runs.open("t", id=f"run-{number:02}", agent="keeper")
            await store.runs.finish(run.id)

    path = str(tmp_path / "s.db")
    fill(path, work)
    candidates = completed("diff", "", store=path)
    assert len(candidates) == NEWEST + 1
    assert candidates["run-34"] == "The lamp"
    assert "run-00" not in candidates


UNUSABLE_STORES = {
    "no store": "nowhere.db",
    "a server": "postgresql://nobody@127.0.0.1:1/none",
    "an invalid URL": "http://lamp",
    "not a database": "broken.db",
    "another database": "empty.db",
}


@pytest.mark.parametrize("store", UNUSABLE_STORES.values(), ids=UNUSABLE_STORES)
def test_unusable_store_gives_no_candidates(
    store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.db").write_text("no database at all" * 100)
    Path("empty.db").touch()
    assert completed("show", "", store=store).keys() == {"last"}
    assert not Path("nowhere.db").exists()  # completion must not create a store


@each_row("shell", ["bash", "zsh", "fish"])
def test_script_calls_the_program(shell: str) -> None:
    script = CliRunner().invoke(cli, ["completion", shell], prog_name="partita").stdout
    assert f"_PARTITA_COMPLETE={shell}_complete" in script
    assert "partita" in script


def test_script_works_in_bash(tmp_path: Path, store: str) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash")
    program = tmp_path / "partita"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m partita "$@"\n')
    program.chmod(0o755)
    script = f"""eval "$(partita completion bash)"
COMP_WORDS=(partita show {CLOCK[:14]}) COMP_CWORD=2
_partita_completion partita
printf '%s\\n' "${{COMPREPLY[@]}}"
complete -p partita"""
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "HOME": str(tmp_path), "PARTITA_STORE": store}
    result = subprocess.run(
        [bash, "--norc", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert result.stderr == ""
    assert result.stdout.splitlines()[0] == CLOCK
    assert "_partita_completion" in result.stdout
