"""Messages: short forms of content, derived types, and the parts that a role may have."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given

from partita.errors import DecodeError
from partita.types.codec import decode_message, encode
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    CanonicalMessage,
    Message,
    MessageType,
    Part,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolContent,
    ToolMessage,
    UserContent,
    UserMessage,
    derive_type,
)
from partita.types.parts import StepStartPart, TextOutput, TextPart, ToolOutput, ToolResultPart, UnknownPart
from tests.canonical import moments
from tests.sampling import FULL
from tests.tables import each_row

CALL = ToolCallPart("c", "search", "input-available", {"q": 1})
RESULT = ToolResultPart("c", "search", TextOutput("found"))
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)

ROLES: dict[str, tuple[Any, Any]] = {
    "system": (SystemMessage, SystemContent),
    "user": (UserMessage, UserContent),
    "assistant": (AssistantMessage, AssistantContent),
}


@each_row(("role", "content_type"), ROLES.values(), ids=ROLES)
def test_a_string_or_a_list_is_accepted_as_content(role: Any, content_type: Any) -> None:
    whole = role(id="m", content=content_type(parts=(TextPart("hi"),)))
    assert role(id="m", content="hi") == whole
    assert role(id="m", content=[TextPart("hi")]) == whole
    assert role(id="m", content=(TextPart("hi"),)) == whole
    assert whole.parts == (TextPart("hi"),)


def test_a_list_of_results_is_accepted_as_content_of_a_tool_message() -> None:
    assert ToolMessage(id="m", content=[RESULT]) == ToolMessage(id="m", content=ToolContent(parts=(RESULT,)))


@each_row(("content", "found"), [(1, "number"), (None, "null"), (UserContent(parts=()), "UserContent")])
def test_other_values_are_refused_as_content(content: Any, found: str) -> None:
    with pytest.raises(DecodeError) as caught:
        SystemMessage(id="m", content=content)
    assert (caught.value.where, caught.value.found) == ("$.content", found)
    assert caught.value.hint


TYPES: dict[str, tuple[Sequence[Part], MessageType]] = {
    "nothing": ([], "text"),
    "words": ([TextPart("a"), StepStartPart()], "text"),
    "a call": ([TextPart("a"), CALL], "tool"),
    "a result": ([RESULT], "tool"),
}


@each_row(("parts", "type_"), TYPES.values(), ids=TYPES)
def test_the_type_is_derived_from_the_parts(parts: Sequence[Part], type_: MessageType) -> None:
    assert derive_type(parts) == type_


MESSAGES_WITH_TYPES: dict[str, tuple[Message, MessageType]] = {
    "derived from the parts": (AssistantMessage(id="m", content=[CALL]), "tool"),
    "derived from a string": (UserMessage(id="m", content="hi"), "text"),
    "derived from complete content": (ToolMessage(id="m", content=ToolContent(parts=(RESULT,))), "tool"),
    "a given type": (SystemMessage(id="m", content="compacted", type="event"), "event"),
    "a given type that differs from the parts": (
        AssistantMessage(id="m", content=[CALL], type="text"),
        "text",
    ),
}


@each_row(("message", "type_"), MESSAGES_WITH_TYPES.values(), ids=MESSAGES_WITH_TYPES)
def test_a_message_always_has_a_type(message: Message, type_: MessageType) -> None:
    assert message.type == type_
    assert decode_message(encode(message)).type == type_


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(DecodeError) as caught:
        UserMessage(id="m", content="", created_at=NOON.replace(tzinfo=None))
    assert caught.value.where == "$.createdAt"
    assert caught.value.expected == "aware datetime"
    assert caught.value.found == "2024-05-01T12:00:00"
    assert caught.value.hint


def test_a_time_outside_the_range_of_utc_is_refused() -> None:
    first = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))
    with pytest.raises(DecodeError, match="out of range"):
        UserMessage(id="m", content="", created_at=first)


@given(moments())
def test_a_time_is_converted_to_utc(moment: datetime) -> None:
    message = UserMessage(id="m", content="", created_at=moment)
    assert message.created_at == moment
    assert message.created_at is not None
    assert message.created_at.tzinfo is UTC
    assert decode_message(encode(message)) == message


@each_row("text", ["2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00", "2024-05-01T04:00:00-08:00"])
def test_times_in_json_are_converted_to_utc(text: str) -> None:
    message = decode_message(json.dumps({"id": "m", "role": "user", "content": "", "createdAt": text}))
    assert message.created_at == NOON
    assert b'"createdAt":"2024-05-01T12:00:00Z"' in encode(message)


def test_message_and_its_alias_are_the_same_type() -> None:
    assert CanonicalMessage is Message


# Type checkers must refuse the lines that end in `wrong`, and accept all others.
CODE = """
from partita.types.messages import AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage
from partita.types.messages import ToolCallPart
from partita.types.parts import ImagePart, ReasoningPart, StepStartPart, TextPart
from partita.types.parts import TextOutput, ToolOutput, ToolResultPart

call = ToolCallPart("c", "search", "input-available")
result = ToolResultPart("c", "search", TextOutput("found"))
AssistantMessage(id="m", content=[TextPart("hi"), call, StepStartPart()])
UserMessage(id="m", content="hi", thread_id="t")
ToolMessage(id="m", content=[result])
SystemMessage(id="m", content=[ImagePart("data:,")])  # wrong
UserMessage(id="m", content=[call])  # wrong
UserMessage(id="m", content=[ReasoningPart("hm")])  # wrong
AssistantMessage(id="m", content=[result])  # wrong
ToolMessage(id="m", content=[TextPart("hi")])  # wrong
ToolMessage(id="m", content="hi")  # wrong
UserMessage(content="hi")  # wrong
UserMessage(id="m", content="hi", sequence=1)  # wrong
ToolCallPart("c", "search", "done")  # wrong


def first_word(message: Message) -> str:
    return message.parts[0].text  # wrong
"""
WRONG_LINES = {number for number, line in enumerate(CODE.splitlines(), 1) if line.endswith("# wrong")}
ROOT = Path(__file__).parents[2]


def _pyrefly_lines(code: Path) -> set[int]:
    command = [sys.executable, "-m", "pyrefly", "check", "--preset=strict", "--output-format=json"]
    paths = ["--search-path", str(ROOT / "src"), "--python-interpreter-path", sys.executable]
    done = subprocess.run([*command, *paths, str(code)], capture_output=True, text=True, check=False)
    return {error["line"] for error in json.loads(done.stdout)["errors"]}


def _mypy_lines(code: Path) -> set[int]:
    folders = [path.name for path in (ROOT / "src" / "partita").iterdir() if path.is_dir()]
    others = [f"partita.{name}.*" for name in folders if name not in ("types", "__pycache__")]
    config = code.with_name("mypy.ini")
    config.write_text(f"[mypy]\nstrict = True\n[mypy-{','.join(others)}]\nfollow_imports = skip\n")
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), str(code)]
    environment = {**os.environ, "MYPYPATH": str(ROOT / "src"), "MYPY_CACHE_DIR": os.devnull}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert not done.stderr
    return {int(number) for number in re.findall(r":(\d+): error:", done.stdout)}


def _pyright_lines(code: Path) -> set[int]:
    pyright = ROOT / "tests" / "pyright" / "node_modules" / ".bin" / "pyright"
    assert pyright.exists(), "run: make full"
    settings = {"typeCheckingMode": "strict", "extraPaths": [str(ROOT / "src")], "pythonVersion": "3.11"}
    (code.parent / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [str(pyright), "--outputjson", "-p", str(code.parent), "--pythonpath", sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    return {line["range"]["start"]["line"] + 1 for line in found if line["severity"] == "error"}


CHECKERS = [_pyrefly_lines, *([_mypy_lines, _pyright_lines] if FULL else [])]


@pytest.mark.parametrize("check", CHECKERS)
def test_type_checkers_refuse_parts_that_a_role_may_not_have(
    check: Callable[[Path], set[int]], tmp_path: Path
) -> None:
    code = tmp_path / "wrong_code.py"
    code.write_text(CODE)
    assert check(code) == WRONG_LINES


MESSAGES = (SystemMessage, UserMessage, AssistantMessage, ToolMessage)
TYPED = (*get_args(Part), *get_args(ToolOutput))


def test_a_message_has_its_role_and_a_part_its_type() -> None:
    assert [message.role for message in MESSAGES] == ["system", "user", "assistant", "tool"]
    message = UserMessage(id="m", content=[TextPart("hi")])
    assert (message.role, message.parts[0].type) == ("user", "text")
    for value in {*TYPED} - {UnknownPart}:
        assert value.type == value.__struct_config__.tag
    with pytest.raises(AttributeError):
        message.role = "tool"  # type: ignore[misc, assignment] # a message is frozen


def test_role_and_type_are_written_once() -> None:
    message = UserMessage(id="m", content=[TextPart("hi")])
    assert encode(message).count(b'"role"') == 1
    assert decode_message(encode(message)) == message
    assert "role" not in message.__struct_fields__
