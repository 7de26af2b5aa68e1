"""TypeScript declarations are up to date and compile in strict mode."""

import re
import subprocess
import sys
from pathlib import Path

from partita.types.chunks import DataChunk
from partita.types.codec import encode
from partita.types.messages import AssistantMessage, ToolCallPart, UserMessage
from partita.types.parts import ContentOutput, DataPart, ForeignPart, ReasoningPart, TextPart
from partita.types.schema import UNIONS, public_values
from partita.types.typescript import typescript
from partita.types.value import Extra
from tests.node import node
from tests.tables import each_row

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "web" / "src" / "partita.gen.ts"
COMPILER = ROOT / "web" / "node_modules" / "typescript" / "bin" / "tsc"
STRICT = ("--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noImplicitReturns")
MODERN = (
    "--noEmit",
    "--target",
    "es2022",
    "--module",
    "es2022",
    "--moduleResolution",
    "bundler",
    "--lib",
    "es2022",
)

CONSUMER = """
import type { Chunk, Message, Part, ToolOutput, UnknownChunk, UnknownPart } from "./partita.gen";

export function say(message: Message): string {
  switch (message.role) {
    case "user":
      return message.content.parts.map(show).join("");
    case "assistant":
      return `${message.content.usage?.outputTokens ?? 0}${message.content.networkExecution?.primitiveId}`;
    case "system":
    case "tool":
      return message.id;
    default: {
      const never: never = message;
      return never;
    }
  }
}

export function show(part: Part): string {
  if (part.type === "text") return part.text.trim();
  if (part.type === "tool-call") return part.state + (part.children ?? []).map(say).join();
  switch (part.type) {
    case "reasoning":
      return part.text;
    case "image":
    case "file":
    case "reasoning-file":
    case "source-url":
      return part.url;
    case "source-document":
      return part.title;
    case "data":
      return part.name;
    case "custom":
      return part.kind;
    case "steering-message":
      return part.parts.map(show).join();
    case "step-start":
      return "";
    case "foreign":
      return part.format;
    case "tool-result":
      return output(part.output);
    default: {
      const unknown: UnknownPart = part;
      return `${unknown.type}: ${typeof unknown["anything"]}`;
    }
  }
}

function output(output: ToolOutput): string {
  switch (output.type) {
    case "text":
    case "error-text":
      return output.value;
    case "content":
      return output.value.map(show).join("");
    case "interrupted":
      return output.message ?? output.reason;
    default:
      return output.type;
  }
}

export function piece(chunk: Chunk): string {
  if (chunk.type === "text-delta") return chunk.delta;
  if (chunk.type === "child") return piece(chunk.chunk);
  if (chunk.type === "data-weather") return String(chunk.transient ?? chunk.data);
  return chunk.type;
}

export function isUnknown(chunk: Chunk): chunk is UnknownChunk {
  return chunk.type.startsWith("x-");
}
"""

MESSAGES = (
    UserMessage(id="1", content=[TextPart(text="hi", extra=Extra({"future": {"a": [None]}}))]),
    AssistantMessage(
        id="2",
        content=[
            ReasoningPart(text="hm", token_count=3),
            ToolCallPart(
                id="c",
                name="look",
                state="output-available",
                input={"at": "sky"},
                output=ContentOutput(value=(TextPart(text="blue"),)),
                children=(UserMessage(id="3", content="look up"),),
            ),
            DataPart(name="weather", data=None),
            ForeignPart(format="x", value=1),
        ],
        seq=4,
    ),
)
CHUNKS = (DataChunk(type="data-weather", data=[1], transient=True),)

WRONG = {
    "an unknown role": 'const m: Message = { role: "robot" };',
    "a missing field": 'const p: Part = { type: "text" };',
    "a part in the wrong role": 'const p: UserPart = { type: "step-start" };',
    "a field of the wrong type": 'const u: Usage = { inputTokens: "3" };',
    "a field of another part": 'const f = (p: Part): string => (p.type === "step-start" ? p.text : "");',
    "writing to a frozen value": 'const f = (p: TextPart): void => { p.text = "x"; };',
}


def compiler_output(folder: Path, source: str) -> subprocess.CompletedProcess[str]:
    """Return the messages of the compiler for a module next to the declarations."""
    (folder / "partita.gen.ts").write_text(typescript(), "utf-8")
    (folder / "consumer.ts").write_text(source, "utf-8")
    command = [node(), str(COMPILER), *STRICT, *MODERN, str(folder / "consumer.ts")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_file_of_the_web_ui_is_up_to_date() -> None:
    assert GENERATED.read_text("utf-8") == typescript(), "run the command in the head of the file"


def test_the_module_prints_the_declarations() -> None:
    command = [sys.executable, "-m", "partita.types.typescript"]
    assert subprocess.run(command, capture_output=True, check=True).stdout == typescript().encode()


def test_every_public_value_and_union_is_declared() -> None:
    text = typescript()
    for value in public_values():
        assert f"export interface {value.__name__} {{" in text
    for name in UNIONS:
        assert f"export type {name} =" in text


def test_a_declaration_has_every_member_and_docstring() -> None:
    assert """\
/** Text for the user. */
export interface TextPart {
  readonly type: "text";
  readonly text: string;
  readonly state?: PartState;
  readonly citations?: readonly Citation[];
  readonly providerMetadata?: Readonly<Record<string, unknown>>;
  readonly [key: string]: unknown;
}
""" in typescript()


LINES = {
    "an open tag": "readonly type: `data-${string}`;",
    "an unknown tag": "readonly type: UnknownTag;",
    "a list of a named union": "readonly children?: readonly Message[];",
    "a list of an unnamed union": (
        "readonly parts: readonly (TextPart | FilePart | ForeignPart | UnknownPart)[];"
    ),
    "content without its short forms": "readonly content: UserContent;",
    "a field that is always written": "readonly format: 2;",
    "a time": "readonly createdAt?: string;",
    "any JSON": "readonly data?: unknown;",
    "a named union or a string": "readonly content: LegacyContent | string;",
    "a deprecation": " * @deprecated Use `Message`. Removed in version 1.0.",
}


@each_row("line", LINES.values(), ids=LINES)
def test_a_line_of_the_declarations(line: str) -> None:
    assert line in typescript().replace("  readonly", "readonly").splitlines()


def test_a_consumer_compiles_and_accepts_written_values(tmp_path: Path) -> None:
    messages = f"export const messages: readonly Message[] = {encode(MESSAGES).decode()};"
    chunks = f"export const chunks: readonly Chunk[] = {encode(CHUNKS).decode()};"
    result = compiler_output(tmp_path, "\n".join([CONSUMER, messages, chunks]))
    assert result.stdout == ""
    assert result.returncode == 0


def test_each_error_is_found_by_the_compiler(tmp_path: Path) -> None:
    imports = 'import type { Message, Part, TextPart, Usage, UserPart } from "./partita.gen";'
    lines = [*WRONG.values(), 'const p: Part = { type: "text", text: "x" };']
    scopes = [f"export namespace Line{number} {{ export {line} }}" for number, line in enumerate(lines)]
    found = compiler_output(tmp_path, "\n".join([imports, *scopes])).stdout
    refused = {int(number) for number in re.findall(r"consumer\.ts\((\d+),", found)}
    assert [name for number, name in enumerate(WRONG, 2) if number not in refused] == []
    assert refused == set(range(2, 2 + len(WRONG))), "the last line is right"
