"""The input and the output of a tool call, in one form for all agents."""

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Final, TypeAlias, assert_never

from msgspec import UNSET

from partita.errors import DecodeError
from partita.stream.partial_json import PartialJson
from partita.types.json import Json, JsonObject, is_array, is_object, loads
from partita.types.messages import ToolCallPart
from partita.types.parts import (
    ContentOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    ForeignPart,
    InterruptedOutput,
    JsonOutput,
    TextOutput,
    TextPart,
)
from partita.types.tool_views import ToolText

Path: TypeAlias = tuple[str | int, ...]

LONGEST_PARSED: Final = 64 * 1024
"""Longer outputs are displayed as they are: in characters."""

OUTPUT: Final = ToolText(path=("output",))

# The store replaces a large output by such a reference; what it refers to is not known here.
STORED: Final = re.compile(r"blob:sha256:[0-9a-f]{64}#(?:text|json)")

ACP: Final = "acp"

DETAILS: Final = ("toolUseResult", "resultDisplay", "metadata")
"""Where Claude Code, Gemini CLI and OpenCode store details of a call that the model does not receive."""


class CallData:
    """A tool call: its input as an object or a text, its output as a text or a value."""

    def __init__(self, part: ToolCallPart, directory: str | None = None) -> None:
        self.part = part
        self._directory = directory.rstrip("/\\") if directory else ""
        given: Json = part.raw_input if part.input is UNSET else part.input
        self._input_path: Path | None = ("rawInput",) if part.input is UNSET else ("input",)
        if isinstance(given, str) and given.lstrip().startswith("{"):
            parsed = _parse_input(given, complete=part.state != "input-streaming")
            if parsed is not None:
                given, self._input_path = parsed, None
        self.input: JsonObject = given if is_object(given) else {}
        self.input_text: str = given if isinstance(given, str) else ""
        self._read_output()

    def _read_output(self) -> None:
        values: list[Json] = []
        match self.part.output:
            case None | ExecutionDeniedOutput() | InterruptedOutput():
                pass
            case TextOutput(value=value) | ErrorTextOutput(value=value):
                values = [value]
            case JsonOutput(value=value) | ErrorJsonOutput(value=value):
                values = [value]
            case ContentOutput(value=items):
                values = [item.text for item in items if isinstance(item, TextPart)]
            case _:
                assert_never(self.part.output)
        texts = [value for value in values if isinstance(value, str)]
        known = [text for text in texts if not STORED.fullmatch(text)]
        self.is_stored = len(known) < len(texts)
        self.text = "\n".join(known)
        self.value: Json = None if texts or not values else values[0]

    @property
    def failed(self) -> bool:
        """Whether the tool reported an error."""
        return isinstance(self.part.output, ErrorTextOutput | ErrorJsonOutput)

    @property
    def succeeded(self) -> bool:
        """Whether there is an output that is not an error."""
        return isinstance(self.part.output, TextOutput | JsonOutput | ContentOutput)

    @property
    def parsed_text(self) -> str:
        """The text of the output if it is short enough to be parsed."""
        return self.text if len(self.text) <= LONGEST_PARSED else ""

    @cached_property
    def details(self) -> list[tuple[Path, JsonObject]]:
        """The details that the agent stores besides the model's output, with their paths; best first."""
        return list(self._details())

    def _details(self) -> Iterator[tuple[Path, JsonObject]]:
        for name, namespace in (self.part.tool_metadata or {}).items():
            if is_object(namespace):
                for inner_name in DETAILS:
                    inner: Json = namespace.get(inner_name)
                    if is_object(inner):
                        yield ("toolMetadata", name, inner_name), inner
                yield ("toolMetadata", name), namespace
        if is_object(self.value):
            yield ("output", "value"), self.value
        if isinstance(self.part.output, ContentOutput):
            for index, item in enumerate(self.part.output.value):
                if isinstance(item, ForeignPart) and item.format == ACP and is_object(item.value):
                    yield ("output", "value", index, "value"), item.value

    @property
    def acp(self) -> JsonObject:
        """The kind and the locations of the call, from an agent of the Agent Client Protocol."""
        found: Json = (self.part.tool_metadata or {}).get(ACP)
        return found if is_object(found) else {}

    def acp_items(self, kind: str) -> tuple[int, ...]:
        """The indexes of the output's items of a type: `diff`, `terminal`."""
        found = (path[2] for path, item in self.details if len(path) == 4 and item.get("type") == kind)
        return tuple(place for place in found if isinstance(place, int))

    def detail(self, *names: str) -> Json:
        """The first of these members of the details; `None` when there is none."""
        return next((found[name] for _, found in self.details for name in names if name in found), None)

    def word(self, *names: str) -> str:
        """The first of these members of the input that is a text."""
        return first_text(self.input, *names)

    def located(self, *names: str) -> ToolText | None:
        """Where the first of these members of the input that is a text can be found."""
        name = first_name(self.input, *names)
        if name is None:
            return None
        path = self._input_path
        return ToolText(text=self.input[name]) if path is None else ToolText(path=(*path, name))

    def located_input(self) -> ToolText | None:
        """Where the input can be found if it is a text."""
        return ToolText(path=self._input_path or ()) if self.input_text else None

    def relative(self, path: str) -> str:
        """A path, relative to the directory of the session if it is inside."""
        inside = comparable(self._directory)
        is_inside = bool(inside) and comparable(path).startswith(f"{inside}/")
        return path[len(inside) + 1 :] if is_inside else path

    def is_directory(self, path: str) -> bool:
        """Whether a path is the directory of the session."""
        return path.rstrip("/\\") in ("", ".") or comparable(path) == comparable(self._directory)


DRIVE: Final = re.compile(r"^(?:([A-Za-z]):|/([a-z])(?=/))")


def is_absolute(path: str) -> bool:
    """Whether a path begins at a root, a drive or a home folder."""
    return path.startswith(("/", "\\", "~")) or DRIVE.match(path) is not None


def comparable(path: str) -> str:
    """A path in the form that is compared: `D:\\a\\b`, `d:/a/b` and `/d/a/b` (Git Bash) are the same folder.

    Its length is that of the path, without slashes at the end.
    """
    if "\\" not in path and DRIVE.match(path) is None:
        return path.rstrip("/")
    slashed = path.replace("\\", "/").rstrip("/")
    return DRIVE.sub(lambda found: f"{(found[1] or found[2]).lower()}:", slashed)


def _parse_input(text: str, *, complete: bool) -> JsonObject | None:
    """Parse a text that is a JSON object; `None` for any other."""
    if not complete:
        value = PartialJson(text).read().value
        return value if is_object(value) else None
    return parse_object(text)


def parse_object(text: str) -> JsonObject | None:
    """Parse a text that is a JSON object; `None` for any other."""
    try:
        value = loads(text)
    except DecodeError:
        return None
    return value if is_object(value) else None


def first_name(holder: JsonObject, *names: str) -> str | None:
    """The name of the first of these members that is a text and not blank."""
    return next(
        (name for name in names if isinstance(value := holder.get(name), str) and value.strip()), None
    )


def first_text(holder: Json, *names: str) -> str:
    """The first of these members that is a text and not blank."""
    name = first_name(holder, *names) if is_object(holder) else None
    return "" if name is None else holder[name]


def objects(value: Json) -> list[JsonObject]:
    """The objects in an array; none when it is not an array."""
    return [item for item in value if is_object(item)] if is_array(value) else []


def texts(value: Json) -> list[str]:
    """The texts in an array; none when it is not an array."""
    return [item for item in value if isinstance(item, str)] if is_array(value) else []


def integer(value: Json) -> int | None:
    """The number, if it is an integer."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None
