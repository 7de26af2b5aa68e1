"""What counts: the environment, then the file of the project, then the user's own, then the default."""

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple

from partita.errors import ConfigError

from .files import ConfigFile, read_file
from .kinds import from_text
from .settings import BY_KEY, SETTINGS, VARIABLES, Setting, Value
from .surroundings import Surroundings, here
from .trust import refusal

PREFIX = "PARTITA_"


class Source(NamedTuple):
    """Where a value comes from, and its name there: a variable, or the place in a file."""

    kind: Literal["environment", "project", "user", "default"]
    name: str = ""

    def __str__(self) -> str:
        return f"environment {self.name}" if self.kind == "environment" else self.name or self.kind


class Found(NamedTuple):
    """The value of a setting, where it comes from, and why it does not count if it does not."""

    setting: Setting
    value: Value
    source: Source
    refused: ConfigError | None = None


class Config:
    """The settings as they are in some surroundings. Files are read when they are needed."""

    def __init__(self, surroundings: Surroundings | None = None) -> None:
        self.surroundings = surroundings or here()

    def get(self, key: str) -> Value:
        """The value of a setting; an error when nobody may rely on it."""
        found = self.find(key)
        if found.refused is not None:
            raise found.refused
        return found.value

    def find(self, key: str) -> Found:
        """The value of a setting and where it comes from."""
        setting = BY_KEY[key]
        text = self.surroundings.environment.get(setting.environment)
        if text:
            return Found(
                setting, _from_environment(setting, text), Source("environment", setting.environment)
            )
        for file in self.files:
            if key in file.values:
                source = Source(file.role, file.where(key))
                return Found(setting, file.values[key], source, self._refusal(file, setting))
        return Found(setting, setting.default, Source("default"))

    def all(self) -> Iterator[Found]:
        """Every setting."""
        return (self.find(setting.key) for setting in SETTINGS)

    @cached_property
    def files(self) -> tuple[ConfigFile, ...]:
        """The files that are there: that of the project first."""
        return tuple(self._files())

    def _files(self) -> Iterator[ConfigFile]:
        nearest = project_file(self.surroundings)
        if nearest is not None:
            yield nearest
        own = self.surroundings.own
        if exists(own) or self.surroundings.environment.get("PARTITA_CONFIG"):
            yield read_file(own, "user")

    def _refusal(self, file: ConfigFile, setting: Setting) -> ConfigError | None:
        if file.role == "user":
            return None
        trusted = self.find("trusted").value
        assert isinstance(trusted, tuple), "a list, by the table"
        return refusal(file, setting, trusted, self.surroundings)

    def unknown_variables(self) -> list[str]:
        """Variables that look like ours and that nobody reads."""
        known = {setting.environment for setting in SETTINGS} | VARIABLES.keys()
        return sorted(
            name for name in self.surroundings.environment if name.startswith(PREFIX) and name not in known
        )


def project_file(surroundings: Surroundings) -> ConfigFile | None:
    """The nearest file of a project, if there is one."""
    nearest = next((path for path in surroundings.project_files() if exists(path)), None)
    return None if nearest is None else read_file(nearest, "project")


def _from_environment(setting: Setting, text: str) -> Value:
    try:
        return from_text(setting, text)
    except ConfigError as error:
        error.where = setting.environment
        raise


def exists(path: Path) -> bool:
    """Whether something is at a path, as far as this user can see."""
    try:
        path.stat()
    except OSError:
        return False
    return True
