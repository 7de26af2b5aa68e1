"""Settings: precedence, sources, validation and trust."""

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
    """A home directory with an empty project, which is the working directory. Nothing is set."""
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


def test_environment_precedes_project_file_precedes_user_file(
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
    """Return the parameters that a command is called with."""
    above = click.Context(cli, info_name="partita")
    above.default_map = SettingDefaults()
    command = cli.get_command(above, name)
    assert command is not None
    return command.make_context(name, list(arguments), parent=above).params


def test_setting_is_the_default_of_its_option(home: Path) -> None:
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


def test_command_uses_settings_and_names_the_file_of_an_invalid_one(home: Path) -> None:
    write(home / "mine.toml", 'trusted = ["~"]')
    write(home / "lamp" / "partita.toml", '[import]\nagents = ["kodex"]')
    assert "unknown agent 'kodex'" in partita("import").stderr
    write(home / "lamp" / "partita.toml", "[import]\nworkers = 0")
    result = partita("import")
    assert result.exit_code == 1
    assert f"{home}/lamp/partita.toml:2" in result.stderr


def test_settings_for_logs_are_ignored_for_rows(home: Path) -> None:
    write(home / "mine.toml", 'trusted = ["~"]')
    write(home / "lamp" / "partita.toml", 'store = "a.db"\n[import]\nagents = ["codex"]\nworkers = 2')
    (home / "lamp" / "rows.json").write_text("[]")
    assert "without --agent" not in partita("import", "rows.json", "--from", "cherry").stderr
    result = partita("import", "rows.json", "--from", "cherry", "--agent", "codex")
    assert (result.exit_code, "without --agent" in result.stderr) == (2, True)


def test_nearest_project_file_is_used_up_to_the_repository_root(
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
    assert value_of("serve.port") == 7272  # parents of the home directory are not searched


def test_user_file_is_in_the_config_folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PARTITA_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "settings"))
    own = Environment(None, home, os.environ).user_file
    assert own.is_relative_to(home)
    own.parent.mkdir(parents=True)
    write(own, "[serve]\nport = 5\nagents = ['demo']")
    assert value_of("serve.port") == 5
    monkeypatch.chdir(own.parent)
    assert value_of("serve.agents") == ("demo",)  # also in this folder it is not a project file


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


@pytest.mark.parametrize(("given", "expected"), STORES.items(), ids=STORES)
def test_store_path_is_relative_to_the_settings_file(
    home: Path, monkeypatch: pytest.MonkeyPatch, given: str, expected: str | None
) -> None:
    folder = home / "a lamp%20"
    folder.mkdir()
    write(folder / "partita.toml", f'store = "{given}"')
    write(home / "mine.toml", f'trusted = ["{home}"]')
    (folder / "inner").mkdir()
    monkeypatch.chdir(folder / "inner")
    path = locate().path
    assert (None if path is None else str(path)) == (expected and expected.format(folder=folder, home=home))


def test_library_and_command_open_the_same_store(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / "lamp" / "partita.toml", 'store = "ours.db"')
    write(home / "mine.toml", 'trusted = ["~"]')
    assert str(locate().path) == partita("config", "get", "store").stdout.strip() == f"{home}/lamp/ours.db"
    assert partita("import", "--demo").exit_code == 0
    assert (home / "lamp" / "ours.db").exists()
    monkeypatch.setenv("PARTITA_STORE", "other.db")
    assert str(locate().path) == "other.db"  # relative to the working directory


WRONG = {
    "stor = 'x'": ("there is no setting 'stor'", ":1", "did you mean store?"),
    "port = 1": ("there is no setting 'port'", ":1", "did you mean port under [serve]?"),
    "[serve]\n\nprot = 1": ("there is no setting 'serve.prot'", ":3", "port under [serve]"),
    "[server]\nport = 1": ("there is no setting 'server.port'", ":2", "port under [serve]"),
    "[serv]": ("there is no setting 'serv'", ":1", ""),
    "serve = 1": ("there is no setting 'serve'", ":1", ""),
    "serve = {prot = 1}": ("there is no setting 'serve.prot'", ":1", "port"),
    "serve.port = 'x'": ("serve.port must be an integer, not 'x'", ":1", "port = 7272"),
    "[serve]\nport = true": ("must be an integer, not True", ":2", ""),
    "[serve]\nport = 70000": ("serve.port is 70000", ":2", "from 0 to 65535"),
    "[serve]\nkeys = 'yes'": ("serve.keys must be true or false", ":2", "keys = false"),
    "[serve]\norigins = 'https://a'": ("must be a list of strings", ":2", "origins = ["),
    "[serve]\norigins = [1]": ("must be a list of strings, not 1", ":2", ""),
    "[serve]\nclient = 7": ("serve.client must be a string, not 7", ":2", 'client = "7"'),
    "[serve.port]\nx = 1": ("serve.port must be an integer, not 'a table'", ":1", ""),
    "[replay]\nlongest_pause = nan": ("replay.longest_pause is nan", ":2", "0 or more"),
    "store = ''": ("store must be the path", ":1", ""),
    "store = 1979-05-27": ("not 'date'", ":1", ""),
    "store = x": ("invalid TOML", ":1:9", "quotes"),
    "store = 'a'\nstore = 'b'": ("invalid TOML", ":2:", ""),
    "trusted = ['/']": ("trusted can only be set in your user file", ":1", "remove it"),
}


@pytest.mark.parametrize(("text", "expected"), WRONG.items(), ids=WRONG)
def test_invalid_setting_in_a_file_is_reported_with_its_location(
    home: Path, text: str, expected: tuple[str, str, str]
) -> None:
    file = write(home / "lamp" / "partita.toml", text)
    result = partita("config")
    assert result.exit_code == 1
    assert result.stdout == ""
    what, place, hint = expected
    assert what in result.stderr
    assert f"at: {file}{place}" in result.stderr
    assert hint in result.stderr.partition("hint:")[2]


def test_unreadable_settings_file_is_reported(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "lamp" / "partita.toml").write_bytes(b"store = '\xff'")
    assert "this is not UTF-8" in partita("config").stderr
    (home / "lamp" / "partita.toml").unlink()
    (home / "lamp" / "partita.toml").mkdir()
    assert "cannot be read: is a directory" in partita("threads").stderr
    (home / "lamp" / "partita.toml").rmdir()
    monkeypatch.setenv("PARTITA_CONFIG", str(home / "nowhere.toml"))
    assert "no such file" in partita("config").stderr


def test_byte_order_mark_is_accepted(home: Path) -> None:
    (home / "lamp" / "partita.toml").write_bytes(b"\xef\xbb\xbf[serve]\r\nport = 9\r\n")
    assert value_of("serve.port") == 9


INVALID_VARIABLES = {
    "PARTITA_PORT": "http",
    "PARTITA_SERVE_KEYS": "maybe",
    "PARTITA_REPLAY_LONGEST_PAUSE": "-1",
    "PARTITA_IMPORT_WORKERS": "0",
}


@pytest.mark.parametrize(("name", "text"), INVALID_VARIABLES.items(), ids=INVALID_VARIABLES)
def test_invalid_environment_variable_is_reported(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv(name, text)
    result = partita("config")
    assert result.exit_code == 1
    assert f"at: {name}" in result.stderr


def test_environment_variables_can_be_lists_and_booleans(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_SERVE_ORIGINS", "https://a.example, https://b.example,")
    monkeypatch.setenv("PARTITA_SERVE_DEMO", "off")
    monkeypatch.setenv("PARTITA_HOST", "")  # empty is not set
    assert value_of("serve.origins") == ("https://a.example", "https://b.example")
    assert value_of("serve.demo") is False
    assert value_of("serve.host") == "127.0.0.1"


SENSITIVE = {
    "a file in the project": 'store = "messages.db"',
    "a URL of a file in the project": 'store = "sqlite:///messages.db"',
    "memory": 'store = "memory:"',
    "imported agents": '[import]\nagents = ["codex"]',
    "the owner": '[import]\nresource = "mallory"',
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


@pytest.mark.parametrize("text", SENSITIVE.values(), ids=SENSITIVE)
def test_project_file_cannot_set_sensitive_settings_until_trusted(home: Path, text: str) -> None:
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


def test_untrusted_setting_only_affects_commands_that_use_it(home: Path) -> None:
    write(home / "lamp" / "partita.toml", '[serve]\nagents = ["evil:agent"]')
    assert partita("import", "--demo").exit_code == 0
    result = partita("serve", "--port", "0")
    assert result.exit_code == 1
    assert "sets serve.agents" in result.stderr


STORE_COMMANDS = (
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
    "rename last x",
    "tag last x",
    "pin last",
    "open last",
    "resume last",
    "rm x --yes",
    "compact",
    "retention --logs 1d",
)


def test_every_command_with_a_store_is_in_the_table() -> None:
    context = click.Context(cli)
    commands = {name: cli.get_command(context, name) for name in cli.list_commands(context)}
    with_store = {name for name, one in commands.items() if one and any(p.name == "url" for p in one.params)}
    listed = {one.split()[0] for one in STORE_COMMANDS}
    assert with_store - listed == {"hook", "serve", "watch"}  # tested separately


@each_row("command", STORE_COMMANDS, ids=STORE_COMMANDS)
def test_command_does_not_open_the_store_of_an_untrusted_project(command: str, home: Path) -> None:
    write(home / "lamp" / "partita.toml", 'store = "planted.db"')
    result = partita(*command.split())
    assert result.exit_code == 1, result.output
    assert "sets store, but is not trusted" in result.stderr
    assert not list((home / "lamp").glob("planted.db*"))


def test_server_does_not_open_the_store_of_an_untrusted_project(home: Path) -> None:
    write(home / "lamp" / "partita.toml", 'store = "planted.db"')
    command = [sys.executable, "-P", "-m", "partita", "serve", "--port", "0", "--no-import"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 1
    assert "sets store, but is not trusted" in result.stderr
    assert not list((home / "lamp").glob("planted.db*"))


def test_hook_reports_an_untrusted_store_and_exits_with_0(home: Path) -> None:
    write(home / "lamp" / "partita.toml", 'store = "planted.db"')
    log = write(home / "lamp" / "log.jsonl", "{}")
    notice = f'{{"transcript_path": "{log}"}}'
    result = partita("hook", "claude-code", notice)
    assert (result.exit_code, "sets store, but is not trusted" in result.stderr) == (0, True)


def test_store_from_option_or_environment_is_used_in_any_project(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / "lamp" / "partita.toml", 'store = "planted.db"')
    assert partita("import", "--demo", "--store", "mine.db").exit_code == 0
    monkeypatch.setenv("PARTITA_STORE", "mine.db")
    assert partita("threads").exit_code == 0


def test_file_is_trusted_until_it_changes_or_trust_is_revoked(home: Path) -> None:
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


def test_copy_of_a_trusted_file_is_not_trusted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / "lamp" / "partita.toml", 'store = "ours.db"')
    assert partita("config", "trust").exit_code == 0
    (home / "copy").mkdir()
    write(home / "copy" / "partita.toml", 'store = "ours.db"')
    monkeypatch.chdir(home / "copy")
    with pytest.raises(ConfigError, match="is not trusted"):
        value_of("store")


def test_trust_requires_a_settings_file(home: Path) -> None:
    result = partita("config", "trust")
    assert (result.exit_code, "there is no partita.toml" in result.stderr) == (1, True)


def test_endless_file_is_refused(home: Path) -> None:
    (home / "lamp" / "partita.toml").symlink_to("/dev/zero")
    assert "more than 1048576 bytes" in partita("config").stderr


def test_file_of_another_user_is_not_trusted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(home / "lamp" / "partita.toml", 'store = "a.db"')
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    if file.stat().st_uid == 0:
        os.chown(file, 4242, 4242)
    with pytest.raises(ConfigError, match="belongs to another user"):
        value_of("store")


def test_every_setting_is_shown_with_its_source(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    report: Json = loads(partita("config", "--json").stdout_bytes)
    by_key = {one["key"]: one for one in report["settings"]}
    assert by_key["serve.port"]["source"] == {"kind": "project", "name": f"{home}/lamp/partita.toml:3"}
    assert by_key["store"]["value"] == "postgresql://ada@db.example/all"
    assert report["unknownVariables"] == ["PARTITA_PROT"]
    assert partita("config", "get", "store").stdout == "postgresql://ada:hush@db.example/all\n"


def test_single_value_is_printed_plainly(home: Path) -> None:
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


def test_possible_settings_files_are_listed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_help_works_with_an_invalid_settings_file(home: Path) -> None:
    write(home / "lamp" / "partita.toml", "broken")
    for arguments in (["--version"], ["--help"], ["serve", "--help"], ["formats"], ["completion", "fish"]):
        assert partita(*arguments).exit_code == 0, arguments
    assert partita("threads").exit_code == 1


def test_hook_with_invalid_settings_exits_with_0(home: Path) -> None:
    write(home / "lamp" / "partita.toml", "broken")
    result = CliRunner().invoke(cli, ["hook", "claude-code"], input=b'{"transcript_path": "x.jsonl"}')
    assert result.exit_code == 0
    assert "invalid TOML" in result.stderr


def test_help_shows_defaults_without_settings(home: Path) -> None:
    write(home / "mine.toml", "[serve]\nport = 9999")
    assert "default: 7272" in partita("serve", "--help").stdout


def test_deleted_working_directory_has_no_project_files(home: Path) -> None:
    assert list(Environment(None, home, {}).project_files()) == []


@each_row("setting", [one for one in SETTINGS if one.options], ids=lambda one: one.key)
def test_options_of_a_setting_exist_with_its_default(setting: Setting) -> None:
    for option in setting.options:
        name, _, parameter = option.partition(".")
        command = cli.get_command(click.Context(cli), name)
        assert command is not None
        with command.make_context(name, [], resilient_parsing=True) as ctx:
            assert ctx.params[parameter] == setting.default


def test_environment_variables_are_unique() -> None:
    names = [*VARIABLES, *(setting.environment for setting in SETTINGS)]
    assert len(set(names)) == len(names)
    assert {setting.key.partition(".")[0] for setting in SETTINGS if "." in setting.key} <= COMMANDS.keys()


def test_configuration_page_lists_every_setting() -> None:
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
