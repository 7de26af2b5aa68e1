"""The settings that the web UI can change, in the `partita.toml` of the user of this machine."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec
from msgspec import Meta

from partita.config.config import Config, ResolvedSetting
from partita.config.file_edits import change_file
from partita.config.settings import BY_KEY, Setting, Value
from partita.config.values import from_toml
from partita.errors import ConfigError, PartitaError
from partita.formats.redaction.defaults import check_kinds, check_texts, clear_defaults
from partita.logs.pricing.own_prices import own_prices
from partita.logs.sources.registry import source_of
from partita.server.callers import Caller, CallerView, require_local
from partita.server.endpoints import Body, get, patch
from partita.server.problems import Problem

TAGS: Final = ["settings"]

Check: TypeAlias = Callable[[tuple[str, ...]], None]
"""Raises an error for a list whose items cannot be used."""


def _check_agents(agents: tuple[str, ...]) -> None:
    for agent in agents:
        source_of(agent)


def _check_folders(folders: tuple[str, ...]) -> None:
    for folder in folders:
        path = Path(folder).expanduser()
        if not path.is_absolute():
            raise ConfigError(f"{folder!r} is a relative path", hint="write the whole path, or one from ~")
        if not path.is_dir():
            raise ConfigError(f"there is no folder {folder!r}", hint="check the spelling")


EDITABLE: Final[Mapping[str, Check]] = {
    "import.agents": _check_agents,
    "import.folders": _check_folders,
    "prices": lambda _: None,
    "export.secrets": check_kinds,
    "export.replace": check_texts,
}
"""The settings that can be changed, and how their values are checked. None runs code or decides on access."""

SourceKind: TypeAlias = Literal["environment", "project", "user", "default"]


class SettingInfo(msgspec.Struct, rename="camel"):
    """A setting, its value and where that is from."""

    key: str
    value: Any
    default: Any
    meaning: str
    environment: Annotated[str, Meta(description="The environment variable, which overrides the file.")]
    source: SourceKind
    source_name: Annotated[str, Meta(description="The variable, or the file with the line.")]
    is_read_only: Annotated[
        bool, Meta(description="Whether a variable or the file of a project overrides your file.")
    ]


class SettingsInfo(msgspec.Struct, rename="camel"):
    """The settings that can be changed."""

    file: Annotated[str, Meta(description="The file that is written.")]
    settings: list[SettingInfo]


@get("/api/settings", tags=TAGS, summary="Get the settings")
async def get_settings(caller: Caller) -> SettingsInfo:
    """The settings that can be changed here, and where their values are from. Only for the user of this
    machine.
    """
    require_local(caller.principal, "see the settings of this machine")
    return _settings()


@patch("/api/settings", tags=TAGS, summary="Change settings")
async def change_settings(
    caller: Caller,
    changes: Annotated[
        dict[str, Any],
        Body(
            description="New values by key, as in `partita.toml`; null removes a setting from the file.",
            examples=[{"import.agents": ["claude-code"]}],
        ),
    ],
) -> SettingsInfo:
    """Write settings into the `partita.toml` of the user of this machine, as `partita config set` does. They
    apply at once. Either all of them are valid, or none is written.
    """
    require_local(caller.principal, "change the settings of this machine")
    config = Config()
    values = {key: _checked(config, key, raw) for key, raw in changes.items()}
    for key, value in values.items():
        try:
            change_file(config.environment.user_file, "user", BY_KEY[key], value)
        except PartitaError as error:
            raise _problem(error, error.where or key) from None
    _apply(caller, values)
    return _settings()


def _settings() -> SettingsInfo:
    config = Config()
    try:
        found = [config.find(key) for key in EDITABLE]
    except ConfigError as error:
        raise _problem(error, error.where) from None
    return SettingsInfo(str(config.environment.user_file), [_info(one) for one in found])


def _info(found: ResolvedSetting) -> SettingInfo:
    setting = found.setting
    return SettingInfo(
        key=setting.key,
        value=_json(found.value),
        default=_json(setting.default),
        meaning=setting.meaning,
        environment=setting.environment,
        source=found.source.kind,
        source_name=found.source.name,
        is_read_only=found.source.kind in ("environment", "project"),
    )


def _json(value: Value) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _checked(config: Config, key: str, raw: object) -> Value:
    """The new value of a setting. One that cannot be used is a problem at its key."""
    if key not in EDITABLE:
        raise Problem(
            400, f"{key!r} cannot be changed here", where=key, hint="use `partita config set` in a terminal"
        )
    try:
        found = config.find(key)
        if found.source.kind in ("environment", "project"):
            raise ConfigError(f"{found.source} sets {key}", hint="change it there")
        if raw is None:
            return None
        return _valid(BY_KEY[key], raw)
    except PartitaError as error:
        raise _problem(error, key) from None


def _valid(setting: Setting, raw: object) -> Value:
    value = from_toml(setting, raw)
    assert isinstance(value, tuple), "all of them are lists"
    EDITABLE[setting.key](value)
    return value


def _problem(error: PartitaError, where: str) -> Problem:
    return Problem(400, error.what, where=where, hint=error.hint)


def _apply(caller: CallerView, values: Mapping[str, Value]) -> None:
    own_prices.cache_clear()
    clear_defaults()
    if any(key.startswith(("import.", "prices")) for key in values):  # the processes that read logs have both
        caller.state.log_import.restart()
