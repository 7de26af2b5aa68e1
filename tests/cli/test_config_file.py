"""`partita config set`, `unset`, `edit` and `init`."""

import tomllib
from pathlib import Path

import pytest

from partita.config.config import Config
from partita.config.settings import BY_KEY, SETTINGS, Setting
from partita.config.values import from_toml
from tests.cli.test_config import home, partita, value_of, write
from tests.tables import each_row

__all__ = ["home"]

SET: dict[str, tuple[str, str, str]] = {
    "a new file": ("", "serve.port 8000", "[serve]\nport = 8000\n"),
    "an existing value": (
        "# mine\n[serve]\nhost = 'a' # host\nport = 1  # why: a # in it\n\n[watch]\npoll = true\n",
        "serve.port 2",
        "# mine\n[serve]\nhost = 'a' # host\nport = 2  # why: a # in it\n\n[watch]\npoll = true\n",
    ),
    "a section without the key": (
        "[serve]\nhost = 'a'\n\n# about watching\n[watch]\npoll = true",
        "serve.port 2",
        "[serve]\nhost = 'a'\nport = 2\n\n# about watching\n[watch]\npoll = true\n",
    ),
    "another section": ("pager = false", "serve.port 2", "pager = false\n\n[serve]\nport = 2\n"),
    "a key without a section": ("[serve]\nport = 1\n", "pager off", "pager = false\n[serve]\nport = 1\n"),
    "a commented example": (
        "[serve]\n# The port.\n# port = 7272\n\n# host = 'a'\n",
        "serve.port 2",
        "[serve]\n# The port.\n# port = 7272\nport = 2\n\n# host = 'a'\n",
    ),
    "a list over several lines": (
        "[serve]\nagents = [\n  'demo', # one\n  'codex',\n]\nport = 1\n",
        "serve.agents claude-code codex",
        '[serve]\nagents = ["claude-code", "codex"]\nport = 1\n',
    ),
    "a dotted key": ("serve.port = 1\npager = true\n", "serve.port 2", "serve.port = 2\npager = true\n"),
    "characters with a meaning": ("", 'import.resource "a\\', '[import]\nresource = "\\"a\\\\"\n'),
}


@each_row(("before", "arguments", "after"), SET.values(), ids=SET)
def test_a_value_is_set_and_everything_else_stays(
    home: Path, before: str, arguments: str, after: str
) -> None:
    file = write(home / "mine.toml", before)
    key, *values = arguments.split()
    result = partita("config", "set", key, *values)
    assert (result.exit_code, result.stdout) == (0, ""), result.stderr
    assert file.read_text() == after
    assert Config().find(key).source.kind == "user"
    unset = partita("config", "unset", key)
    assert unset.exit_code == 0
    assert Config().find(key).source.kind == "default"


REFUSED: dict[str, tuple[str, str, str]] = {
    "a wrong type": ("", "serve.port abc", "serve.port must be an integer, not 'abc'"),
    "out of range": ("", "serve.port 70000", "it must be from 0 to 65535"),
    "an unknown choice": ("", "serve.log_level loud", "hint: use one of debug, info, warning, error"),
    "an unknown key": ("", "serve.prot 1", "did you mean serve.port?"),
    "several values": ("", "serve.port 1 2", "serve.port has one value"),
    "an inline table": ("serve = { port = 1 }", "serve.port 2", "partita config edit"),
    "a file that is not valid": ("[serve]\nport = 'x'", "serve.host a", "serve.port must be an integer"),
}


@each_row(("before", "arguments", "message"), REFUSED.values(), ids=REFUSED)
def test_an_invalid_change_is_refused(home: Path, before: str, arguments: str, message: str) -> None:
    file = write(home / "mine.toml", before)
    result = partita("config", "set", *arguments.split())
    assert result.exit_code != 0
    assert message in result.stderr
    assert file.read_text() == before


def test_relative_paths_are_those_of_the_working_directory(home: Path) -> None:
    partita("config", "set", "store", "here.db")
    assert value_of("store") == str(home / "lamp" / "here.db")
    partita("config", "set", "trusted", "~/work", "other")
    assert value_of("trusted") == ("~/work", str(home / "lamp" / "other"))


def test_the_file_of_the_project_is_changed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = partita("config", "set", "store", "here.db", "--project")
    assert (home / "lamp" / "partita.toml").read_text() == 'store = "here.db"\n'
    assert "not trusted: partita config trust" in result.stderr
    (home / "lamp" / "inner").mkdir()
    monkeypatch.chdir(home / "lamp" / "inner")
    partita("config", "set", "serve.port", "5", "--project")
    assert value_of("serve.port") == 5
    assert "can only be set in your own file" in partita("config", "set", "trusted", "x", "--project").stderr
    monkeypatch.setenv("PARTITA_PORT", "9")
    result = partita("config", "set", "serve.port", "6", "--project")
    assert "the value of environment PARTITA_PORT applies" in result.stderr
    assert partita("config", "unset", "pager", "--project").exit_code == 1


def test_a_link_stays_a_link_and_the_mode_stays(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = write(home / "dotfiles.toml", "pager = true\n")
    real.chmod(0o644)
    link = home / "linked.toml"
    link.symlink_to(real)
    monkeypatch.setenv("PARTITA_CONFIG", str(link))
    assert partita("config", "set", "pager", "false").exit_code == 0
    assert link.is_symlink()
    assert (real.read_text(), real.stat().st_mode & 0o777) == ("pager = false\n", 0o644)


def test_a_new_file_has_all_settings_as_comments(home: Path) -> None:
    file = home / "mine.toml"
    assert partita("config", "init").exit_code == 1
    assert partita("config", "init", "--force").exit_code == 0
    assert {one.source.kind for one in Config().all()} == {"default"}
    for setting in SETTINGS:
        assert setting.meaning.split()[0] in file.read_text()
    active = "\n".join(
        line.removeprefix("# ") if " = " in line else line for line in file.read_text().splitlines()
    )
    file.write_text(active)
    assert {one.source.kind for one in Config().all()} == {"user"}
    assert partita("config", "init", "--project").exit_code == 0
    assert "trusted" not in (home / "lamp" / "partita.toml").read_text()


def test_the_editor_is_started_and_the_file_is_checked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_CONFIG", str(home / "new" / "partita.toml"))
    monkeypatch.setenv("VISUAL", "true")
    result = partita("config", "edit")
    assert (result.exit_code, "is valid: 0 settings" in result.stderr) == (0, True)
    editor = home / "editor"
    editor.write_text('#!/bin/sh\necho "[serve]\nport = 70000" > "$1"\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    result = partita("config", "edit")
    assert result.exit_code == 1
    assert "it must be from 0 to 65535" in result.stderr
    monkeypatch.setenv("VISUAL", "false")
    assert partita("config", "edit").exit_code == 1


@each_row("setting", SETTINGS, ids=list(BY_KEY))
def test_the_example_of_a_setting_is_a_value_of_it(setting: Setting) -> None:
    value = tomllib.loads(f"x = {setting.example}")["x"]
    assert from_toml(setting, value) is not None


def test_the_hint_of_a_wrong_variable_is_a_value_of_that_setting(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTITA_PORT", "abc")
    result = partita("config")
    assert result.exit_code == 1
    assert result.stderr.endswith("   at: PARTITA_PORT\n hint: such as 7272\n")
