"""UI messages checked as the SDK's `safeValidateUIMessages` checks them, message by message.

The SDK refuses a whole thread for one bad message; here every message also gets a verdict of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from msgspec import UNSET

from partita.errors import DecodeError, PartitaError
from partita.formats.ai_sdk.versions import check_version
from partita.types.json import Json, JsonObject, is_array, is_object

from .checks import Problem, Reading, shown
from .schema import message_schema
from .tools import ToolChecks, ToolSchemas, tool_checks
from .values import Check, Schema, compiled

__all__ = ["Schema", "ToolSchemas", "Validation", "Verdict", "validate_ui_messages"]

_HINT: Final = "drop or repair the message; its verdict lists every problem"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found about one message on its own."""

    index: int
    id: str | None
    problems: tuple[Problem, ...]

    @property
    def valid(self) -> bool:
        """Whether the message passed."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class Validation:
    """All messages if every one is good, the good ones in any case, and a verdict on each."""

    messages: list[JsonObject] | None
    error: PartitaError | None
    valid_messages: list[JsonObject]
    verdicts: tuple[Verdict, ...]

    @property
    def success(self) -> bool:
        """Whether the SDK would accept the whole thread."""
        return self.error is None


@dataclass(frozen=True, slots=True)
class _Checks:
    metadata: Check | None
    data: Mapping[str, Check] | None
    tools: ToolChecks | None


def validate_ui_messages(
    messages: Json,
    *,
    version: int = 7,
    metadata_schema: Schema | None = None,
    data_schemas: Mapping[str, Schema] | None = None,
    tools: Mapping[str, ToolSchemas] | None = None,
    lossless: bool = False,
) -> Validation:
    """The messages as the SDK accepts them, or why not. `lossless` keeps members the SDK strips."""
    check_version(version)
    checks = _Checks(
        metadata_schema if metadata_schema is None else compiled(metadata_schema, "metadata_schema"),
        None
        if data_schemas is None
        else {name: compiled(schema, f"data_schemas.{name}") for name, schema in data_schemas.items()},
        None if tools is None else tool_checks(tools, version),
    )
    if not is_array(messages) or not messages:
        found = "an empty array" if is_array(messages) else shown(messages)
        return Validation(None, _error(Problem("messages", "at least one message", found)), [], ())
    results = [_validate(message, index, version, checks, lossless) for index, message in enumerate(messages)]
    verdicts = tuple(verdict for _, verdict in results)
    good = [message for message, verdict in results if verdict.valid]
    first = next((verdict.problems[0] for verdict in verdicts if verdict.problems), None)
    if first is not None:
        return Validation(None, _error(first), good, verdicts)
    return Validation(good, None, list(good), verdicts)


def _validate(
    message: Json, index: int, version: int, checks: _Checks, lossless: bool
) -> tuple[JsonObject, Verdict]:
    path = f"messages[{index}]"
    reading = Reading(lossless)
    known = message_schema(version).read(message, path, reading)
    if not reading.problems:
        _check_metadata(known, path, checks, reading)
        _check_parts(known, path, checks, reading)
    id_ = message.get("id") if is_object(message) else None
    return known, Verdict(index, id_ if isinstance(id_, str) else None, tuple(reading.problems))


def _check_metadata(message: JsonObject, path: str, checks: _Checks, reading: Reading) -> None:
    if checks.metadata is None:
        return
    value, problem = checks.metadata(message.get("metadata", UNSET), f"{path}.metadata")
    if problem is not None:
        reading.problems.append(problem)
    elif value is not UNSET:
        message["metadata"] = value


def _check_parts(message: JsonObject, path: str, checks: _Checks, reading: Reading) -> None:
    for index, part in enumerate(message["parts"]):
        where = f"{path}.parts[{index}]"
        if checks.data is not None and part["type"].startswith("data-"):
            _check_data(part, where, checks.data, reading)
        elif checks.tools is not None and part["type"].startswith("tool-"):
            message["parts"][index] = checks.tools.read(part, where, reading)


def _check_data(part: JsonObject, path: str, checks: Mapping[str, Check], reading: Reading) -> None:
    name = part["type"].removeprefix("data-")
    check = checks.get(name)
    if check is None:
        reading.refuse(f"{path}.type", "a data part with a schema", f'"{name}" without one')
        return
    value, problem = check(part["data"], f"{path}.data")
    if problem is None:
        part["data"] = value
    else:
        reading.problems.append(problem)


def _error(problem: Problem) -> DecodeError:
    return DecodeError(
        f"expected {problem.expected}, found {problem.found}",
        where=problem.path,
        hint=_HINT,
        expected=problem.expected,
        found=problem.found,
    )
