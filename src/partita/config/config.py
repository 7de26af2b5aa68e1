"""The settings in effect: from the environment, the project's file, the user's file, or the defaults."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from partita.errors import ConfigError

from .environment import Environment, current_environment
from .files import ConfigFile, read_file
from .settings import BY_KEY, SETTINGS, VARIABLES, Setting, Value
from .trust import refusal
from .values import from_text

PREFIX = "PARTITA_"


class Source(NamedTuple):
    """The source of a value: its kind, and the name of the variable or the location in the file."""

    kind: Literal["environment", "project", "user", "default"]
    name: str = ""

    def __str__(self) -> str:
        return f"environment {self.name}" if self.kind == "environment" else self.name or self.kind


class ResolvedSetting(NamedTuple):
    """The value of a setting and its source. `refused` is the reason why the value must not be used."""

    setting: Setting
    value: Value
    source: Source
    refused: ConfigError | None = None


class Config:
    """The settings in an environment. Files are read on first use."""

    def __init__(self, environment: Environment | None = None) -> None:
        self.environment = environment or current_environment()

    def get(self, key: str) -> Value:
        """The value of a setting. A value that is not trusted is a `ConfigError`."""
        found = self.find(key)
        if found.refused is not None:
            raise found.refused
        return found.value

    def find(self, key: str) -> ResolvedSetting:
        """The value of a setting and its source."""
        setting = BY_KEY[key]
        text = self.environment.variables.get(setting.environment)
        if text:
            return ResolvedSetting(
                setting, _from_environment(setting, text), Source("environment", setting.environment)
            )
        for file in self.files:
            if key in file.values:
                source = Source(file.role, file.location(key))
                return ResolvedSetting(setting, file.values[key], source, self._refusal(file, setting))
        return ResolvedSetting(setting, setting.default, Source("default"))

    def all(self) -> Iterator[ResolvedSetting]:
        """Every setting."""
        return (self.find(setting.key) for setting in SETTINGS)

    @cached_property
    def files(self) -> tuple[ConfigFile, ...]:
        """The existing settings files, the project's file first."""
        return tuple(self._files())

    def _files(self) -> Iterator[ConfigFile]:
        nearest = project_file(self.environment)
        if nearest is not None:
            yield nearest
        user_file = self.environment.user_file
        if exists(user_file) or self.environment.variables.get("PARTITA_CONFIG"):
            yield read_file(user_file, "user")

    def _refusal(self, file: ConfigFile, setting: Setting) -> ConfigError | None:
        if file.role == "user":
            return None
        trusted = self.find("trusted").value
        assert isinstance(trusted, tuple), "its kind is a list"
        return refusal(file, setting, trusted, self.environment)

    def unknown_variables(self) -> list[str]:
        """Environment variables with the prefix `PARTITA_` that are not settings."""
        known = {setting.environment for setting in SETTINGS} | VARIABLES.keys()
        return sorted(
            name for name in self.environment.variables if name.startswith(PREFIX) and name not in known
        )


def project_file(environment: Environment) -> ConfigFile | None:
    """The nearest settings file of the project, if there is one."""
    nearest = next((path for path in environment.project_files() if exists(path)), None)
    return None if nearest is None else read_file(nearest, "project")


def _from_environment(setting: Setting, text: str) -> Value:
    try:
        return from_text(setting, text)
    except ConfigError as error:
        error.where = setting.environment
        raise


def exists(path: Path) -> bool:
    """Whether a path exists and is accessible."""
    try:
        path.stat()
    except OSError:
        return False
    return True
