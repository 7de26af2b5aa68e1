"""Outputs of the tools of Codex, and patches."""

from hypothesis import given
from hypothesis import strategies as st

from partita.formats.codex.content import read_outcome
from partita.formats.codex.tool_items import changes_in_event, changes_in_input, changes_in_text
from partita.types.json import Json, JsonObject
from partita.types.parts import (
    ContentOutput,
    ErrorTextOutput,
    ExecutionDeniedOutput,
    ForeignPart,
    ImagePart,
    InterruptedOutput,
    TextOutput,
    TextPart,
    ToolOutput,
)
from tests.strategies_json import json_values, texts
from tests.tables import each_row

CHUNK = (
    "Chunk ID: ab1\nWall time: 1.5 seconds\nProcess exited with code {}\nOriginal token count: 7\nOutput:\n"
)
CHUNK_FIELDS: JsonObject = {"chunkId": "ab1", "durationSeconds": 1.5, "originalTokenCount": 7}
RUNNING = "Chunk ID: ab12\nWall time: 10.0 seconds\nProcess running with session ID 42\nOutput:\n"
PLAIN = "Exit code: {}\nWall time: 2 seconds\nTotal output lines: 9\nOutput:\nbeds"
SANDBOX = "failed in sandbox Seatbelt with execution error: denied, exit code: 2, stdout: , stderr: no"
TIMEOUT = "Exit code: 124\nWall time: 9 seconds\nOutput:\ncommand timed out after 9000 milliseconds\nbe"
PICTURE: JsonObject = {"type": "input_image", "image_url": "data:image/webp;base64,AA==", "detail": "high"}

OUTPUTS: dict[str, tuple[Json, ToolOutput, JsonObject]] = {
    "plain text": ("Plan updated", TextOutput("Plan updated"), {}),
    "nothing": ("", TextOutput(""), {}),
    "JSON in a string": (
        '{"output":"beds\\n","metadata":{"exit_code":0,"duration_seconds":0.4}}',
        TextOutput("beds\n"),
        {"exitCode": 0, "durationSeconds": 0.4, "outputEncoding": "json"},
    ),
    "JSON in a string, of a failure": (
        '{"output":"no","metadata":{"exit_code":127,"duration_seconds":0.0,"colour":"red"}}',
        ErrorTextOutput("no"),
        {"exitCode": 127, "durationSeconds": 0.0, "colour": "red", "outputEncoding": "json"},
    ),
    "other JSON in a string": ('{"output": 1}', TextOutput('{"output": 1}'), {}),
    "text that only starts like JSON": ('{"output": ', TextOutput('{"output": '), {}),
    "blocks in a string": (
        '[{"type":"text","text":"beds"}]',
        ContentOutput((TextPart("beds"),)),
        {"outputEncoding": "json"},
    ),
    "text that only starts like blocks": ("[{no", TextOutput("[{no"), {}),
    "a head with a code": (
        PLAIN.format(0),
        TextOutput(PLAIN.format(0)),
        {"exitCode": 0, "durationSeconds": 2.0, "totalOutputLines": 9},
    ),
    "a head with another code": (
        PLAIN.format(1),
        ErrorTextOutput(PLAIN.format(1)),
        {"exitCode": 1, "durationSeconds": 2.0, "totalOutputLines": 9},
    ),
    "a head with a chunk": (CHUNK.format(0), TextOutput(CHUNK.format(0)), {**CHUNK_FIELDS, "exitCode": 0}),
    "a head with a chunk, of a failure": (
        CHUNK.format(-1),
        ErrorTextOutput(CHUNK.format(-1)),
        {**CHUNK_FIELDS, "exitCode": -1},
    ),
    "a process that is still running": (
        RUNNING,
        TextOutput(RUNNING),
        {"chunkId": "ab12", "durationSeconds": 10.0, "processId": 42},
    ),
    "a head alone": (
        "Wall time: 0.1 seconds",
        TextOutput("Wall time: 0.1 seconds"),
        {"durationSeconds": 0.1},
    ),
    "text like a head": ("Wall time: long", TextOutput("Wall time: long"), {}),
    "a denial by the sandbox": (SANDBOX, ErrorTextOutput(SANDBOX), {"exitCode": 2}),
    "an error of a tool": ("tool call error: no soil", ErrorTextOutput("tool call error: no soil"), {}),
    "a patch that does not fit": (
        "apply_patch verification failed: no",
        ErrorTextOutput("apply_patch verification failed: no"),
        {},
    ),
    "a denial by the user": (
        "exec command rejected by user",
        ExecutionDeniedOutput("exec command rejected by user"),
        {},
    ),
    "a timeout": (
        TIMEOUT,
        InterruptedOutput("timeout", TIMEOUT),
        {"exitCode": 124, "durationSeconds": 9.0},
    ),
    "an interruption": (
        "Wall time: 3.2 seconds\naborted by user",
        InterruptedOutput("aborted", "Wall time: 3.2 seconds\naborted by user"),
        {"durationSeconds": 3.2},
    ),
    "an interruption of a tool": (
        "aborted by user after 3.2s",
        InterruptedOutput("aborted", "aborted by user after 3.2s"),
        {},
    ),
    "the placeholder for a call that never ended": ("aborted", InterruptedOutput("aborted", "aborted"), {}),
    "items": (
        [{"type": "input_text", "text": "see"}, PICTURE],
        ContentOutput(
            (
                TextPart("see"),
                ImagePart(
                    "data:image/webp;base64,AA==",
                    "image/webp",
                    provider_metadata={"codex": {"detail": "high"}},
                ),
            )
        ),
        {},
    ),
    "a single item of a failure": (
        [{"type": "input_text", "text": PLAIN.format(1)}],
        ErrorTextOutput(PLAIN.format(1)),
        {"exitCode": 1, "durationSeconds": 2.0, "totalOutputLines": 9},
    ),
    "items of a failure": (
        [{"type": "input_text", "text": "Exit code: 1\nOutput:\nno"}, PICTURE | {"detail": None}],
        ContentOutput(
            (TextPart("Exit code: 1\nOutput:\nno"), ImagePart("data:image/webp;base64,AA==", "image/webp"))
        ),
        {"exitCode": 1, "failed": True},
    ),
    "an unknown item": (
        [{"type": "smell", "strength": 3}],
        ContentOutput((ForeignPart("codex", {"type": "smell", "strength": 3}),)),
        {},
    ),
    "an object of early 2025": ({"content": "no", "success": False}, ErrorTextOutput("no"), {}),
    "an unknown object": (7, ContentOutput((ForeignPart("codex", 7),)), {}),
}


@each_row(("output", "typed", "fields"), OUTPUTS.values(), ids=OUTPUTS)
def test_outputs(output: Json, typed: ToolOutput, fields: JsonObject) -> None:
    assert read_outcome(output) == (typed, fields)


@given(texts(), st.integers(-5, 300), st.floats(0, 1000).map(lambda seconds: round(seconds, 4)))
def test_the_exit_code_and_the_text_of_any_command_are_read(body: str, code: int, seconds: float) -> None:
    text = f"Exit code: {code}\nWall time: {seconds:.4f} seconds\nOutput:\n{body}"
    output, fields = read_outcome(text)
    assert fields == {"exitCode": code, "durationSeconds": seconds}
    assert output == (TextOutput(text) if code == 0 else ErrorTextOutput(text))


@given(texts() | json_values())
def test_any_output_has_an_outcome(output: Json) -> None:
    outcome = read_outcome(output)
    if (
        isinstance(output, str)
        and isinstance(outcome.output, TextOutput)
        and "outputEncoding" not in outcome.metadata
    ):
        assert outcome.output.value == output


# Patches

LONG = """*** Begin Patch
*** Add File: beds/new.txt
+roses
+
*** Update File: beds/old.txt
*** Move to: beds/older.txt
@@ spring
 tulips
-lilies
+daffodils
+crocuses
*** End of File
*** Delete File: weeds.txt
*** End Patch
after"""

PATCHES: dict[str, tuple[str, list[JsonObject]]] = {
    "every kind": (
        LONG,
        [
            {"path": "beds/new.txt", "kind": "add", "content": "roses\n", "added": 2, "removed": 0},
            {
                "path": "beds/old.txt",
                "kind": "update",
                "movedTo": "beds/older.txt",
                "diff": "@@ spring\n tulips\n-lilies\n+daffodils\n+crocuses\n*** End of File",
                "added": 2,
                "removed": 1,
            },
            {"path": "weeds.txt", "kind": "delete"},
        ],
    ),
    "a truncated patch": (
        "*** Begin Patch\n*** Update File: a\n@@\n-x",
        [{"path": "a", "kind": "update", "diff": "@@\n-x", "added": 0, "removed": 1}],
    ),
    "not a patch": ("roses", []),
}


@each_row(("patch", "changes"), PATCHES.values(), ids=PATCHES)
def test_changes_of_a_patch(patch: str, changes: list[JsonObject]) -> None:
    assert changes_in_text(patch) == changes


HOLDERS: dict[str, tuple[Json, int | None]] = {
    "the patch itself": (LONG, 3),
    "a command": ({"command": ["apply_patch", LONG]}, 3),
    "a line for a shell": ({"cmd": f"cd beds && apply_patch <<'EOF'\n{LONG}\nEOF"}, 3),
    "not a patch": ({"cmd": "ls"}, None),
    "no input": (None, None),
}


@each_row(("input", "changes"), HOLDERS.values(), ids=HOLDERS)
def test_a_patch_is_found_in_the_input_of_a_call(input: Json, changes: int | None) -> None:
    found = changes_in_input(input)
    assert (None if found is None else len(found)) == changes


CHANGES: dict[str, tuple[Json, list[JsonObject] | None]] = {
    "of 2026": (
        {"a": {"type": "update", "unified_diff": "@@\n-x\n+y\n+z", "move_path": "b"}},
        [{"path": "a", "kind": "update", "movedTo": "b", "diff": "@@\n-x\n+y\n+z", "added": 2, "removed": 1}],
    ),
    "of 2025": (
        {"a": {"add": {"content": "x\ny\n"}}},
        [{"path": "a", "kind": "add", "content": "x\ny\n", "added": 2, "removed": 0}],
    ),
    "a deletion": (
        {"a": {"type": "delete", "content": "x\ny"}},
        [{"path": "a", "kind": "delete", "content": "x\ny", "added": 0, "removed": 2}],
    ),
    "a list of names": ([{"path": "a", "kind": "add"}], [{"path": "a", "kind": "add"}]),
    "a list of diffs": (
        [{"path": "a", "kind": {"type": "update", "movePath": "b"}, "diff": "+x"}],
        [{"path": "a", "kind": "update", "movedTo": "b", "diff": "+x", "added": 1, "removed": 0}],
    ),
    "a text": ({"a": "add"}, [{"path": "a", "kind": "add"}]),
    "an unknown object": ({"a": 7}, [{"path": "a", "kind": "unknown"}]),
    "not a list": (None, None),
}


@each_row(("value", "changes"), CHANGES.values(), ids=CHANGES)
def test_changes_of_an_event(value: Json, changes: list[JsonObject] | None) -> None:
    assert changes_in_event(value) == changes
