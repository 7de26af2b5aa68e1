"""The types of values that several commands share. Their errors are in plain words."""

from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any

import click
from click.shell_completion import CompletionItem


class WholeNumber(click.ParamType[int]):
    """A whole number in a range."""

    name = "n"

    def __init__(self, min: int | None = None, max: int | None = None) -> None:
        self.min = min
        self.max = max

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number."""
        try:
            number = int(value)
        except ValueError:
            self.fail(f"{value!r} is not a whole number", param, ctx)
        if (self.min is not None and number < self.min) or (self.max is not None and number > self.max):
            span = f"{self.min} or more" if self.max is None else f"a number from {self.min} to {self.max}"
            self.fail(f"{number} is out of range; use {span}", param, ctx)
        return number


class Number(click.ParamType[float]):
    """A number that is not negative, and with `positive` not 0."""

    name = "n"

    def __init__(self, *, positive: bool = False) -> None:
        self.positive = positive

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number."""
        try:
            number = float(value)
        except ValueError:
            self.fail(f"{value!r} is not a number", param, ctx)
        if not (number > 0 if self.positive else number >= 0):
            self.fail(
                f"{value} is out of range; use {'more than 0' if self.positive else '0 or more'}", param, ctx
            )
        return number


class InputFile(click.ParamType[IO[bytes]]):
    """A file to read, or `-` for stdin. A file that cannot be opened is an `OSError`, not a usage error."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> IO[bytes]:
        """Return the open file. It is closed when the command ends."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return] # an open file: the default, converted before
        file: IO[bytes] = click.open_file(value, "rb")
        if ctx is not None and value != "-":
            ctx.call_on_close(file.close)
        return file


class ExistingPath(click.ParamType[str]):
    """The path of an existing file or folder. A missing one is an `OSError`, not a usage error."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the path."""
        Path(str(value)).stat()
        return str(value)


class SettingType(click.ParamType[str]):
    """The key of a setting."""

    name = "key"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The key, if the setting exists."""
        from partita.config.settings import BY_KEY

        if value not in BY_KEY:
            near = get_close_matches(str(value), BY_KEY, n=1)
            more = f"did you mean {near[0]}?" if near else "partita config lists them"
            self.fail(f"there is no setting {value!r}; {more}", param, ctx)
        return str(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem[str]]:
        """The keys with this prefix."""
        from partita.config.settings import SETTINGS

        return [
            CompletionItem(one.key, help=one.meaning) for one in SETTINGS if one.key.startswith(incomplete)
        ]
