"""The option `--json`."""

import click
import pytest
from click.testing import CliRunner, Result

from partita.cli.main import COMMANDS, cli
from partita.types.json import Json, loads
from tests.cli.sample_store import CLOCK, add_threads, fill

WITHOUT = {
    "completion": "it prints a script",
    "config edit": "it prints one sentence",
    "config init": "it prints one sentence",
    "config set": "it prints one sentence",
    "config trust": "it prints one sentence",
    "config unset": "it prints one sentence",
    "mcp": "its protocol is JSON",
    "open": "it prints one address",
    "tour": "it is for people",
}


def commands() -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    above = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(above, name)
        assert command is not None
        if isinstance(command, click.Group):
            found |= {f"{name} {one}": inner for one, inner in command.commands.items()}
        else:
            found[name] = command
    return found


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("json") / "store.db")
    fill(path, add_threads)
    return path


def partita(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def test_commands_have_a_json_option_or_are_listed() -> None:
    having = {
        name for name, command in commands().items() if any("--json" in one.opts for one in command.params)
    }
    assert commands().keys() - having == WITHOUT.keys()


def test_formats_list_their_abilities() -> None:
    rows: list[Json] = [loads(line) for line in partita("formats", "--json").stdout_bytes.splitlines()]
    by_name = {row["name"]: row for row in rows}
    assert by_name["ai-sdk-ui-v7"] == {
        "name": "ai-sdk-ui-v7",
        "alias": "ui",
        "title": by_name["ai-sdk-ui-v7"]["title"],
        "carries": True,
        "read": True,
        "written": True,
        "streamed": False,
    }
    assert by_name["anthropic"]["streamed"] is True


def test_fork_prints_the_new_thread(store: str) -> None:
    result = partita("fork", CLOCK, "1", "--title", "Again", "--json", "--store", store)
    thread: Json = loads(result.stdout_bytes)
    assert thread["title"] == "Again"
    assert thread["id"] != CLOCK
    assert partita("show", thread["id"], "--json", "--store", store).exit_code == 0


def test_created_key_is_printed_with_its_details(store: str) -> None:
    created: Json = loads(
        partita("keys", "create", "--resource", "ada", "--json", "--store", store).stdout_bytes
    )
    assert created["key"].startswith("pk_")
    listed: Json = loads(partita("keys", "list", "--json", "--store", store).stdout_bytes)
    assert created == {**listed, "key": created["key"]}
