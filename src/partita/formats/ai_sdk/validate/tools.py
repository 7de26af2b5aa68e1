"""Tool parts checked against the schemas of the tools there are now.

History outlives tools. A finished call whose tool is gone, or whose input no longer fits, is kept, but
as a `dynamic-tool` part marked `dynamic: false`: nobody checked it against a tool.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from msgspec import UNSET

from partita.types.json import JsonObject

from .checks import Problem, Reading
from .values import Check, Schema, compiled, same_json


@dataclass(frozen=True, slots=True)
class ToolSchemas:
    """The schemas of a tool's input and output; `None` accepts anything."""

    input: Schema | None = None
    output: Schema | None = None


@dataclass(frozen=True, slots=True)
class _Rules:
    finished: frozenset[str]  # states that are kept when the tool is gone
    input_checked: frozenset[str]
    approval_holds_input: bool  # `approval.inputSchemaInput` is the input before the schema changed it
    kept: frozenset[str] | None  # members that survive the change to a dynamic part; None: all


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
        """The static tool part, or the dynamic one it turned into."""
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

    def _input_problem(self, part: JsonObject, tool: _Tool, path: str) -> Problem | None:
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
            return Problem(path, "what approval.inputSchemaInput gives", "another value")
        return None

    def _as_dynamic(self, part: JsonObject, name: str, reading: Reading) -> JsonObject:
        kept = None if reading.lossless else self.rules.kept
        members = {key: value for key, value in part.items() if kept is None or key in kept}
        return {**members, "type": "dynamic-tool", "toolName": name, "dynamic": False}


def tool_checks(tools: Mapping[str, ToolSchemas], version: int) -> ToolChecks:
    """The tools' schemas, compiled, under the rules of a version."""
    return ToolChecks(RULES[version], {name: _compiled_tool(name, tool) for name, tool in tools.items()})


def _compiled_tool(name: str, tool: ToolSchemas) -> _Tool:
    return _Tool(
        None if tool.input is None else compiled(tool.input, f"tools.{name}.input"),
        None if tool.output is None else compiled(tool.output, f"tools.{name}.output"),
    )


def _may_misfit(part: JsonObject) -> bool:
    """A failed call may hold the input it failed for; a finished one may have lost its input."""
    state = part["state"]
    return bool(state == "output-error" or (state == "output-available" and part["input"] == {}))
