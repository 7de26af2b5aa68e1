"""Settings: which count, where they come from, and what may not be said."""

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from partita.cli.main import COMMANDS, SettingDefaults, cli
from partita.config.config import Config
from partita.config.environment import Environment
from partita.config.settings import SETTINGS, VARIABLES, Setting
from partita.errors import ConfigError
from partita.store.engines.location import locate
from partita.types.json import Json, loads
from tests.tables import each_row

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with a project in it, in which we are; nothing is set."""
    for name in list(os.environ):
        if name.startswith("PARTITA_") or name == "XDG_CONFIG_HOME":
            monkeypatch.delenv(name)
    home = (tmp_path / "home").resolve()
    (home / "lamp").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PARTITA_CONFIG", str(write(home / "mine.toml", "")))
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.chdir(home / "lamp")
    return home


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def partita(*arguments: str) -> Result:
    return CliRunner().invoke(cli, list(arguments))


def value_of(key: str) -> object:
    return Config().get(key)


def test_what_counts_is_the_environment_then_the_project_then_the_users_file(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert value_of("serve.port") == 7272
    write(home / "mine.toml", "[serve]\nport = 1\ndemo = false")
    assert value_of("serve.port") == 1
    write(home / "lamp" / "partita.toml", "[serve]\nport = 2")
    assert value_of("serve.port") == 2
    assert value_of("serve.demo") is False
    monkeypatch.setenv("PARTITA_PORT", "3")
    assert value_of("serve.port") == 3


def parameters(name: str, *arguments: str) -> dict[str, object]:
    """What a command is called with."""
    above = click.Context(cli, info_name="partita")
    above.default_map = SettingDefaults()
    command = cli.get_command(above, name)
    assert command is not None
    return command.make_context(name, list(arguments), parent=above).params


def test_a_flag_counts_most_and_a_setting_is_the_default_of_its_option(home: Path) -> None:
    write(
        home / "lamp" / "partita.toml",
        'pager = false\n[replay]\nlongest_pause = 0\n[import]\nagents = ["codex"]\nworkers = 3',
    )
    write(home / "mine.toml", 'trusted = ["~"]')
    assert parameters("replay", "x")["longest_pause"] == 0
    assert parameters("replay", "x", "--longest-pause", "5")["longest_pause"] == 5
    assert parameters("diff", "x", "y")["pager"] is False
    assert parameters("show", "x", "--pager")["pager"] is True
    assert parameters("watch")["agents"] == ("codex",)
    assert parameters("import", "--agent", "gemini-cli") | {"agents": ("gemini-cli",), "workers": 3} == (
        parameters("import", "--agent", "gemini-cli")
    )


def test_a_command_obeys_a_setting_and_names_the_file_that_is_wrong(home: Path) -> None:
    write(home / "mine.toml", 'trusted = ["~"]')
    write(home / "lamp" / "partita.toml", '[import]\nagents = ["kodex"]')
    assert "no agent 'kodex'" in partita("import").stderr
    write(home / "lamp" / "partita.toml", "[import]\nworkers = 0")
    result = partita("import")
    assert result.exit_code == 1
    assert f"{home}/lamp/partita.toml:2" in result.stderr


def test_settings_of_logs_are_not_about_rows(home: Path) -> None:
    write(home / "mine.toml", 'trusted = ["~"]')
    write(home / "lamp" / "partita.toml", 'store = "a.db"\n[import]\nagents = ["codex"]\nworkers = 2')
    (home / "lamp" / "rows.json").write_text("[]")
    assert "neither --agent" not in partita("import", "rows.json", "--from", "cherry").stderr
    told = partita("import", "rows.json", "--from", "cherry", "--agent", "codex")
    assert (told.exit_code, "neither --agent" in told.stderr) == (2, True)


def test_the_nearest_file_counts_up_to_the_root_of_a_repository(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = home / "lamp" / "src" / "deep"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    write(home / "partita.toml", "[serve]\nport = 1")
    assert value_of("serve.port") == 1
    write(home / "lamp" / "partita.toml", "[serve]\nport = 2")
    assert value_of("serve.port") == 2
    (home / "lamp" / "src" / ".git").mkdir()
    assert value_of("serve.port") == 7272
    write(home.parent / "partita.toml", "[serve]\nport = 4")
    (home / "partita.toml").unlink()
    monkeypatch.chdir(home)
    assert value_of("serve.port") == 7272  # above the home nothing is looked for


def test_the_users_own_file_is_in_the_folder_for_settings(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PARTITA_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "settings"))
    own = Environment(None, home, os.environ).user_file
    assert own.is_relative_to(home)
    own.parent.mkdir(parents=True)
    write(own, "[serve]\nport = 5\nagents = ['demo']")
    assert value_of("serve.port") == 5
    monkeypatch.chdir(own.parent)
    assert value_of("serve.agents") == ("demo",)  # it is the user's own, also from here


STORES = {
    "messages.db": "{folder}/messages.db",
    "./data/a.db": "{folder}/data/a.db",
    "sqlite:///messages.db": "{folder}/messages.db",
    "sqlite:///a%20b.db": "{folder}/a b.db",
    "sqlite:////tmp/x.db": "/tmp/x.db",
    "/tmp/x.db": "/tmp/x.db",
    "~/x.db": "{home}/x.db",
    "memory:": None,
}


@pytest.mark.parametrize(("given", "meant"), STORES.items(), ids=STORES)
def test_a_store_is_meant_from_where_the_file_is(
    home: Path, monkeypatch: pytest.MonkeyPatch, given: str, meant: str | None
) -> None:
    folder = home / "a lamp%20"
    folder.mkdir()
    write(folder / "partita.toml", f'store = "{given}"')
    write(home / "mine.toml", f'trusted = ["{home}"]')
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    path = locate().path
    assert (None if path is None else str(path)) == (meant and meant.format(folder=folder, home=home))


def test_the_library_and_the_command_open_the_same_store(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / "lamp" / "partita.toml", 'store = "ours.db"')
    write(home / "mine.toml", 'trusted = ["~"]')
    assert str(locate().path) == partita("config", "get", "store").stdout.strip() == f"{home}/lamp/ours.db"
    assert partita("threads").exit_code == 0
    assert (home / "lamp" / "ours.db").exists()
    monkeypatch.setenv("PARTITA_STORE", "other.db")
    assert str(locate().path) == "other.db"  # as anywhere on a command line


WRONG = {
    "stor = 'x'": ("there is no setting 'stor'", ":1", "did you mean store?"),
    "port = 1": ("there is no setting 'port'", ":1", "did you mean port under [serve]?"),
    "[serve]\n\nprot = 1": ("there is no setting 'serve.prot'", ":3", "port under [serve]"),
    "[server]\nport = 1": ("there is no setting 'server.port'", ":2", "port under [serve]"),
    "[serv]": ("there is no setting 'serv'", ":1", ""),
    "serve = 1": ("there is no setting 'serve'", ":1", ""),
    "serve = {prot = 1}": ("there is no setting 'serve.prot'", ":1", "port"),
    "serve.port = 'x'": ("serve.port must be an integer, not 'x'", ":1", "port = 8"),
    "[serve]\nport = true": ("must be an integer, not True", ":2", ""),
    "[serve]\nport = 70000": ("serve.port is 70000", ":2", "from 0 to 65535"),
    "[serve]\nkeys = 'yes'": ("serve.keys must be true or false", ":2", "keys = true"),
    "[serve]\norigins = 'https://a'": ("must be a list of strings", ":2", "origins = ["),
    "[serve]\norigins = [1]": ("must be a list of strings, not 1", ":2", ""),
    "[serve]\nclient = 7": ("serve.client must be a string, not 7", ":2", 'client = "…"'),
    "[serve.port]\nx = 1": ("serve.port must be an integer, not 'a table'", ":1", ""),
    "[replay]\nlongest_pause = nan": ("replay.longest_pause is nan", ":2", "0 or more"),
    "store = ''": ("store must be the path", ":1", ""),
    "store = 1979-05-27": ("not 'date'", ":1", ""),
    "store = x": ("invalid TOML", ":1:9", "quotes"),
    "store = 'a'\nstore = 'b'": ("invalid TOML", ":2:", ""),
    "trusted = ['/']": ("trusted can only be set in your user file", ":1", "remove it"),
}


@pytest.mark.parametrize(("text", "told"), WRONG.items(), ids=WRONG)
def test_what_is_wrong_in_a_file_is_told_with_its_place(
    home: Path, text: str, told: tuple[str, str, str]
) -> None:
    file = write(home / "lamp" / "partita.toml", text)
    result = partita("config")
    assert result.exit_code == 1
    assert result.stdout == ""
    what, place, hint = told
    assert what in result.stderr
    assert f"at: {file}{place}" in result.stderr
    assert hint in result.stderr.partition("hint:")[2]


def test_a_file_that_cannot_be_read_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "lamp" / "partita.toml").write_bytes(b"store = '\xff'")
    assert "this is not UTF-8" in partita("config").stderr
    (home / "lamp" / "partita.toml").unlink()
    (home / "lamp" / "partita.toml").mkdir()
    assert "cannot be read: is a directory" in partita("threads").stderr
    (home / "lamp" / "partita.toml").rmdir()
    monkeypatch.setenv("PARTITA_CONFIG", str(home / "nowhere.toml"))
    assert "no such file" in partita("config").stderr


def test_a_byte_order_mark_is_no_mistake(home: Path) -> None:
    (home / "lamp" / "partita.toml").write_bytes(b"\xef\xbb\xbf[serve]\r\nport = 9\r\n")
    assert value_of("serve.port") == 9


VARIABLES_WRONG = {
    "PARTITA_PORT": "http",
    "PARTITA_SERVE_KEYS": "maybe",
    "PARTITA_REPLAY_LONGEST_PAUSE": "-1",
    "PARTITA_IMPORT_WORKERS": "0",
}


@pytest.mark.parametrize(("name", "text"), VARIABLES_WRONG.items(), ids=VARIABLES_WRONG)
def test_what_is_wrong_in_the_environment_is_told(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv(name, text)
    result = partita("config")
    assert result.exit_code == 1
    assert f"at: {name}" in result.stderr


def test_the_environment_says_lists_and_switches(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_SERVE_ORIGINS", "https://a.example, https://b.example,")
    monkeypatch.setenv("PARTITA_SERVE_DEMO", "off")
    monkeypatch.setenv("PARTITA_HOST", "")  # empty is not set
    assert value_of("serve.origins") == ("https://a.example", "https://b.example")
    assert value_of("serve.demo") is False
    assert value_of("serve.host") == "127.0.0.1"


GUARDED = {
    "a file in the project": 'store = "messages.db"',
    "a URL of a file in the project": 'store = "sqlite:///messages.db"',
    "no file": 'store = "memory:"',
    "which sessions": '[import]\nagents = ["codex"]',
    "whose sessions": '[import]\nresource = "mallory"',
    "importing": "[serve]\nimport = true",
    "names": '[serve]\nallow_hosts = ["evil.example"]',
    "folders": '[serve]\ncwds = ["/"]',
    "agents": '[serve]\nagents = ["evil:agent"]',
    "a host": '[serve]\nhost = "0.0.0.0"',
    "no keys": "[serve]\nkeys = false",
    "origins": '[serve]\norigins = ["https://evil.example"]',
    "a server": 'store = "postgresql://me:secret@evil.example/all"',
    "a file elsewhere": 'store = "/tmp/everything.db"',
    "a file above": 'store = "../everything.db"',
    "a file by a link": 'store = "link/everything.db"',
    "the home": 'store = "sqlite:///~/everything.db"',
}


@pytest.mark.parametrize("text", GUARDED.values(), ids=GUARDED)
def test_the_file_of_a_project_opens_no_doors_until_its_folder_is_trusted(home: Path, text: str) -> None:
    (home / "lamp" / "link").symlink_to(home.parent)
    write(home / "lamp" / "partita.toml", text)
    section, _, rest = text.rpartition("]\n")
    key = f"{section[1:]}.{rest.split()[0]}" if section else "store"
    result = partita("config", "get", key)
    assert result.exit_code == 1
    assert f"sets {key}, but is not trusted" in result.stderr
    assert "if you trust it, run: partita config trust" in result.stderr
    listed = partita("config")
    assert listed.exit_code == 0
    assert "(not trusted)" in " ".join(listed.stdout.split())  # long paths wrap
    write(home / "mine.toml", 'trusted = ["~"]')
    assert partita("config", "get", key).exit_code == 0


def test_a_project_that_is_not_trusted_stops_only_what_needs_it(home: Path) -> None:
    write(home / "lamp" / "partita.toml", '[serve]\nagents = ["evil:agent"]')
    assert partita("threads").exit_code == 0
    result = partita("serve", "--port", "0")
    assert result.exit_code == 1
    assert "sets serve.agents" in result.stderr


NEEDS_A_STORE = (
    "mcp",
    "threads",
    "stats",
    "search x",
    "show last",
    "runs",
    "replay last",
    "export last",
    "backup a.backup",
    "doctor",
    "migrate",
    "keys list",
    "import --demo",
    "reproject --all",
    "fork last 1",
    "fixture last",
    "diff last last",
)


def test_every_command_with_a_store_is_tried_in_a_project_that_is_not_trusted() -> None:
    context = click.Context(cli)
    commands = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    with_store = {name for name, one in commands.items() if one and any(p.name == "url" for p in one.params)}
    tried = {one.split()[0] for one in NEEDS_A_STORE}
    assert with_store - tried == {"hook", "serve", "watch"}  # see below: they do not fail, or do not end


@each_row("command", NEEDS_A_STORE, ids=NEEDS_A_STORE)
def test_no_command_opens_the_store_of_a_project_that_is_not_trusted(command: str, home: Path) -> None:
    write(home / "lamp" / "partita.toml", 'store = "planted.db"')
    result = partita(*command.split())
    assert result.exit_code == 1, result.output
    assert "sets store, but is not trusted" in result.stderr
    assert not list((home / "lamp").glob("planted.db*"))


def test_no_server_opens_the_store_of_a_project_that_is_not_trusted(home: Path) -> None:
    write(home / "lamp" / "partita.toml", 'store = "planted.db"')
    command = [sys.executable, "-P", "-m", "partita", "serve", "--port", "0", "--no-import"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    assert "sets store, but is not trusted" in result.stderr
    assert not list((home / "lamp").glob("planted.db*"))


def test_a_hook_says_that_a_store_is_not_trusted_and_stops_no_agent(home: Path) -> None:
    write(home / "lamp" / "partita.toml", 'store = "planted.db"')
    log = write(home / "lamp" / "log.jsonl", "{}")
    notice = f'{{"transcript_path": "{log}"}}'
    result = partita("hook", "claude-code", notice)
    assert (result.exit_code, "sets store, but is not trusted" in result.stderr) == (0, True)


def test_a_store_that_the_user_names_counts_in_any_project(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / "lamp" / "partita.toml", 'store = "planted.db"')
    assert partita("threads", "--store", "mine.db").exit_code == 0
    monkeypatch.setenv("PARTITA_STORE", "mine.db")
    assert partita("threads").exit_code == 0


def test_a_file_is_trusted_until_it_changes_or_the_user_revokes_it(home: Path) -> None:
    file = write(home / "lamp" / "partita.toml", 'store = "ours.db"\n[serve]\nport = 9')
    trusted = partita("config", "trust")
    assert (trusted.exit_code, trusted.stdout) == (0, "")
    assert f"store = {home}/lamp/ours.db" in trusted.stderr
    assert "port" not in trusted.stderr
    assert value_of("store") == f"{home}/lamp/ours.db"
    [approval] = list(home.rglob("trusted/*"))
    assert approval.stat().st_mode & 0o077 == approval.parent.stat().st_mode & 0o077 == 0
    write(file, 'store = "other.db"')
    with pytest.raises(ConfigError, match="is not trusted"):
        value_of("store")
    assert partita("config", "trust", str(home / "lamp")).exit_code == 0
    assert value_of("store") == f"{home}/lamp/other.db"
    assert "trust revoked" in partita("config", "trust", "--revoke").stderr
    with pytest.raises(ConfigError, match="is not trusted"):
        value_of("store")
    assert "was not trusted" in partita("config", "trust", "--revoke").stderr


def test_trusting_a_file_trusts_no_copy_of_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / "lamp" / "partita.toml", 'store = "ours.db"')
    assert partita("config", "trust").exit_code == 0
    (home / "copy").mkdir()
    write(home / "copy" / "partita.toml", 'store = "ours.db"')
    monkeypatch.chdir(home / "copy")
    with pytest.raises(ConfigError, match="is not trusted"):
        value_of("store")


def test_there_must_be_a_file_to_trust(home: Path) -> None:
    result = partita("config", "trust")
    assert (result.exit_code, "there is no partita.toml" in result.stderr) == (1, True)


def test_a_file_without_an_end_is_refused(home: Path) -> None:
    (home / "lamp" / "partita.toml").symlink_to("/dev/zero")
    assert "more than 1048576 bytes" in partita("config").stderr


def test_a_file_of_another_user_decides_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(home / "lamp" / "partita.toml", 'store = "a.db"')
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    if file.stat().st_uid == 0:
        os.chown(file, 4242, 4242)
    with pytest.raises(ConfigError, match="belongs to another user"):
        value_of("store")


def test_every_setting_is_shown_with_where_it_comes_from(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_STORE", "postgresql://ada:hush@db.example/all")
    monkeypatch.setenv("PARTITA_PROT", "1")
    write(home / "lamp" / "partita.toml", "\n[serve]\nport = 2")
    result = partita("config")
    lines = {line.split()[0]: line for line in result.stdout.splitlines()}
    assert lines.keys() >= {setting.key for setting in SETTINGS}
    assert lines["store"].endswith("environment PARTITA_STORE")
    assert "hush" not in result.output
    assert lines["serve.port"].split()[1:] == ["2", f"{home}/lamp/partita.toml:3"]
    assert lines["serve.demo"].endswith("default")
    assert "unknown environment variable PARTITA_PROT; did you mean PARTITA_PORT?" in result.stderr
    told: Json = loads(partita("config", "--json").stdout_bytes)
    by_key = {one["key"]: one for one in told["settings"]}
    assert by_key["serve.port"]["source"] == {"kind": "project", "name": f"{home}/lamp/partita.toml:3"}
    assert by_key["store"]["value"] == "postgresql://ada@db.example/all"
    assert told["unknownVariables"] == ["PARTITA_PROT"]
    assert partita("config", "get", "store").stdout == "postgresql://ada:hush@db.example/all\n"


def test_one_value_is_printed_for_a_script(home: Path) -> None:
    write(home / "mine.toml", '[serve]\norigins = ["https://a", "https://b"]\nkeys = true')
    assert partita("config", "get", "serve.origins").stdout == "https://a\nhttps://b\n"
    assert partita("config", "get", "serve.keys").stdout == "true\n"
    assert loads(partita("config", "get", "serve.origins", "--json").stdout_bytes) == [
        "https://a",
        "https://b",
    ]
    nothing = partita("config", "get", "import.resource")
    assert (nothing.exit_code, nothing.stdout) == (1, "")
    unknown = partita("config", "get", "serve.prot")
    assert unknown.exit_code == 2
    assert "did you mean serve.port?" in unknown.stderr


def test_the_files_that_are_looked_for_are_listed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "lamp" / "inner").mkdir()
    monkeypatch.chdir(home / "lamp" / "inner")
    write(home / "lamp" / "partita.toml", "broken")
    write(home / "partita.toml", "")
    assert partita("config", "path").stdout.splitlines() == [
        f"{home}/lamp/inner/partita.toml  (project: does not exist)",
        f"{home}/lamp/partita.toml  (project: read)",
        f"{home}/partita.toml  (project: not read, a nearer file exists)",
        f"{home}/mine.toml  (user: read)",
    ]
    states = [loads(line)["state"] for line in partita("config", "path", "--json").stdout_bytes.splitlines()]
    assert states[:2] == ["does not exist", "read"]


def test_a_broken_file_does_not_hide_the_help(home: Path) -> None:
    write(home / "lamp" / "partita.toml", "broken")
    for arguments in (["--version"], ["--help"], ["serve", "--help"], ["formats"], ["completion", "fish"]):
        assert partita(*arguments).exit_code == 0, arguments
    assert partita("threads").exit_code == 1


def test_a_hook_with_broken_settings_stops_no_agent(home: Path) -> None:
    write(home / "lamp" / "partita.toml", "broken")
    result = CliRunner().invoke(cli, ["hook", "claude-code"], input=b'{"transcript_path": "x.jsonl"}')
    assert result.exit_code == 0
    assert "invalid TOML" in result.stderr


def test_help_shows_the_defaults_of_everybody(home: Path) -> None:
    write(home / "mine.toml", "[serve]\nport = 9999")
    assert "default: 7272" in partita("serve", "--help").stdout


def test_where_one_is_may_be_gone(home: Path) -> None:
    assert list(Environment(None, home, {}).project_files()) == []


@each_row("setting", [one for one in SETTINGS if one.options], ids=lambda one: one.key)
def test_each_option_that_a_setting_names_is_there_with_the_same_default(setting: Setting) -> None:
    for option in setting.options:
        name, _, parameter = option.partition(".")
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        with command.make_context(name, [], resilient_parsing=True) as ctx:
            assert ctx.params[parameter] == setting.default


def test_no_two_settings_share_a_variable() -> None:
    names = [*VARIABLES, *(setting.environment for setting in SETTINGS)]
    assert len(set(names)) == len(names)
    assert {setting.key.partition(".")[0] for setting in SETTINGS if "." in setting.key} <= COMMANDS.keys()


def test_the_page_lists_every_setting() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text("utf-8")
    for setting in SETTINGS:
        default = setting.default_text or (
            "none" if setting.default == () else f"`{in_toml(setting.default)}`"
        )
        assert f"| `{setting.key}` | `{setting.environment}` | {default} | {setting.meaning} |\n" in page
    for name, meaning in VARIABLES.items():
        assert f"| `{name}` | {meaning} |\n" in page


def in_toml(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
