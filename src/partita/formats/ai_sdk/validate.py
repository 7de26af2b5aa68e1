"""Validation of UI messages as in the SDK's `safeValidateUIMessages`, message by message.

The SDK refuses a whole thread for one invalid message; here every message also gets a verdict of its own.

Tool parts are checked against the schemas of the current tools. A finished call of a tool that does not exist
any more, or whose input no longer fits, is kept as a `dynamic-tool` part with `dynamic: false`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

import msgspec
from msgspec import UNSET

from partita.errors import ConversionError, DecodeError, PartitaError
from partita.types.json import Json, JsonObject, is_array, is_object

from .schema import MAX_DEPTH, NOTHING, Reading, SchemaProblem, is_deeper, message_schema, rebuild, shown
from .versions import check_version

# Schemas of users

Schema: TypeAlias = JsonObject | Callable[[Json], Json]
"""A JSON Schema, or a function that returns the value, which it may change, or raises a `ValueError`,
`PartitaError` or `msgspec.ValidationError`.
"""


class Checked(NamedTuple):
    """The result of a check: the value to continue with, or a problem."""

    value: Json = UNSET
    problem: SchemaProblem | None = None


Check: TypeAlias = Callable[[Json, str], Checked]
"""Checks the value at a path. An absent value is `UNSET`."""

TOO_DEEP: Final = f"JSON of at most {MAX_DEPTH} levels"


def compiled(schema: Schema, where: str) -> Check:
    """Return a check for a schema. `where`: the name of the schema, for the error if it is invalid."""
    return _from_function(schema) if callable(schema) else _from_json_schema(schema, where)


def same_json(left: Json, right: Json) -> bool:
    """Whether two JSON values are equal in JavaScript: `1` equals `1.0` but not `true`."""
    pairs = [(left, right)]
    while pairs:
        one, other = pairs.pop()
        if is_object(one) and is_object(other) and one.keys() == other.keys():
            pairs.extend((one[key], other[key]) for key in one)
        elif is_array(one) and is_array(other) and len(one) == len(other):
            pairs.extend(zip(one, other, strict=True))
        elif (
            isinstance(one, (dict, list))
            or isinstance(one, bool) is not isinstance(other, bool)
            or one != other
        ):
            return False
    return True


def _from_json_schema(schema: JsonObject, where: str) -> Check:
    import jsonschema_rs

    try:
        validator = jsonschema_rs.validator_for(schema, mask="the value", retriever=_refuse_to_fetch)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        first_line = str(error).partition("\n")[0]
        raise ConversionError(
            f"not a JSON Schema: {first_line}", where=where, hint="check the schema, not the messages"
        ) from None

    def check(value: Json, path: str) -> Checked:
        if value is UNSET:  # not a JSON value: only an empty schema accepts it
            return Checked(value) if not schema else Checked(problem=SchemaProblem(path, "a value", NOTHING))
        if is_deeper(value, MAX_DEPTH):  # the validator is recursive, and would crash the process
            return Checked(problem=SchemaProblem(path, TOO_DEEP, "more"))
        try:
            validator.validate(value)
        except jsonschema_rs.ValidationError as error:
            place = "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in error.instance_path)
            return Checked(problem=SchemaProblem(path + place, "what its schema accepts", error.message))
        except UnicodeEncodeError:  # half of a surrogate pair, which is valid in JavaScript but not in UTF-8
            return check(rebuild(value, text=_whole), path)._replace(value=value)
        return Checked(value)

    return check


def _from_function(function: Callable[[Json], Json]) -> Check:
    def check(value: Json, path: str) -> Checked:
        try:
            result = function(None if value is UNSET else value)
        except RecursionError:
            return Checked(problem=SchemaProblem(path, TOO_DEEP, "more"))
        except (ValueError, PartitaError, msgspec.ValidationError) as error:
            return Checked(problem=SchemaProblem(path, str(error) or type(error).__name__, shown(value)))
        return Checked(UNSET if value is UNSET and result is None else result)

    return check


def _refuse_to_fetch(address: str) -> Json:
    raise ValueError(f"schema {address} is not included, and schemas are not fetched")


def _whole(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


# Tools


@dataclass(frozen=True, slots=True)
class ToolSchemas:
    """The schemas of a tool's input and output; `None` accepts anything."""

    input: Schema | None = None
    output: Schema | None = None


@dataclass(frozen=True, slots=True)
class _Rules:
    finished: frozenset[str]  # states of calls that are kept if the tool does not exist
    input_checked: frozenset[str]
    approval_holds_input: bool  # `approval.inputSchemaInput` is the input before the schema changed it
    kept: frozenset[str] | None  # members that the dynamic part keeps; None: all


_FINISHED: Final = frozenset({"output-available", "output-error"})
_RULES_6: Final = _Rules(
    finished=_FINISHED | {"output-denied"},
    input_checked=_FINISHED
    | {"input-available", "approval-requested", "approval-responded", "output-denied"},
    approval_holds_input=True,
    kept=None,
)
RULES: Final[dict[int, _Rules]] = {
    5: _Rules(
        finished=_FINISHED,
        input_checked=_FINISHED | {"input-available"},
        approval_holds_input=False,
        kept=frozenset(
            {
                "toolCallId",
                "providerExecuted",
                "callProviderMetadata",
                "state",
                "input",
                "output",
                "preliminary",
                "errorText",
            }
        ),
    ),
    6: _RULES_6,
    7: _RULES_6,
}


class _Tool(NamedTuple):
    input: Check | None
    output: Check | None


@dataclass(frozen=True, slots=True)
class ToolChecks:
    """The compiled schemas of all tools, and the rules of one version."""

    rules: _Rules
    tools: Mapping[str, _Tool]

    def read(self, part: JsonObject, path: str, reading: Reading) -> JsonObject:
        """Return the static tool part, or the dynamic one that it becomes."""
        name = part["type"].removeprefix("tool-")
        tool = self.tools.get(name)
        if tool is None:
            if part["state"] in self.rules.finished:
                return self._as_dynamic(part, name, reading)
            reading.refuse(f"{path}.type", "a tool with a schema", f'"{name}" without one')
            return part
        problem = self._input_problem(part, tool, f"{path}.input")
        forgiven = problem is not None and _may_misfit(part)
        if problem is not None and not forgiven:
            reading.problems.append(problem)
        if tool.output is not None and part["state"] == "output-available":
            _, output_problem = tool.output(part["output"], f"{path}.output")
            reading.problems.extend([output_problem] if output_problem else [])
        return self._as_dynamic(part, name, reading) if forgiven else part

    def _input_problem(self, part: JsonObject, tool: _Tool, path: str) -> SchemaProblem | None:
        given = part.get("input", UNSET)
        before = UNSET
        if self.rules.approval_holds_input and "approval" in part:
            before = part["approval"].get("inputSchemaInput", UNSET)
        value = given if before is UNSET else before
        if value is UNSET or part["state"] not in self.rules.input_checked:
            return None
        if tool.input is not None:
            value, problem = tool.input(value, path)
            if problem is not None:
                return problem
        if before is not UNSET and not same_json(value, given):
            return SchemaProblem(path, "the result of approval.inputSchemaInput", "another value")
        return None

    def _as_dynamic(self, part: JsonObject, name: str, reading: Reading) -> JsonObject:
        kept = None if reading.lossless else self.rules.kept
        members = {key: value for key, value in part.items() if kept is None or key in kept}
        return {**members, "type": "dynamic-tool", "toolName": name, "dynamic": False}


def tool_checks(tools: Mapping[str, ToolSchemas], version: int) -> ToolChecks:
    """Return the compiled schemas of tools, with the rules of a version."""
    return ToolChecks(RULES[version], {name: _compiled_tool(name, tool) for name, tool in tools.items()})


def _compiled_tool(name: str, tool: ToolSchemas) -> _Tool:
    return _Tool(
        None if tool.input is None else compiled(tool.input, f"tools.{name}.input"),
        None if tool.output is None else compiled(tool.output, f"tools.{name}.output"),
    )


def _may_misfit(part: JsonObject) -> bool:
    """Whether the input need not fit: that of a failed call, or that of a finished one if it is empty."""
    state = part["state"]
    return bool(state == "output-error" or (state == "output-available" and part["input"] == {}))


# Messages

_HINT: Final = "drop or repair the message; its verdict lists every problem"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result for one message."""

    index: int
    id: str | None
    problems: tuple[SchemaProblem, ...]

    @property
    def valid(self) -> bool:
        """Whether the message is valid."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class Validation:
    """All messages if every one is valid, the valid ones, and a verdict on each."""

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
    """Validate messages as the SDK does. `lossless`: keep the members that the SDK removes."""
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
        return Validation(None, _error(SchemaProblem("messages", "at least one message", found)), [], ())
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


def _error(problem: SchemaProblem) -> DecodeError:
    return DecodeError(
        f"expected {problem.expected}, found {problem.found}",
        where=problem.path,
        hint=_HINT,
        expected=problem.expected,
        found=problem.found,
    )
