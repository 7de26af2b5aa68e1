"""Requests of Google's generateContent API ↔ canonical messages.

Each content is a message, `message-N`, where N is its number in the request; the results of calls are in the
calls. A content with results and text is two messages.

Wire: https://ai.google.dev/api/generate-content
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import UNSET
from msgspec.structs import replace

from partita.errors import ConversionError
from partita.formats.core.codec import BEHIND
from partita.formats.core.metadata import RAW_INPUT, message_notes, notes, with_part_notes
from partita.formats.core.request import request_report
from partita.formats.core.role_messages import APART, SYSTEM, RoleWriter
from partita.formats.core.rules import INSTRUCTIONS_FIRST, OPENING_PROMPT, USER_FIRST, Rules
from partita.formats.core.turns import Instructions, Position, Prompt, Results, Step, Turn, join
from partita.formats.core.wire import residue, restore, to_json
from partita.formats.format import Dumped, Format, Loaded, Request, ToolSpec
from partita.formats.losses import FILES_MOVED, RENAMED, Loss
from partita.types.json import Json, JsonObject, is_array, is_object, kind_of
from partita.types.messages import (
    AssistantContent,
    AssistantMessage,
    AssistantPart,
    Message,
    SystemContent,
    SystemMessage,
    ToolCallPart,
    ToolMessage,
    UserContent,
    UserMessage,
)
from partita.types.parts import ForeignPart, TextPart, ToolResultPart
from partita.types.value import Extra

from . import wire
from .parts import (
    CALL_ID,
    CONTENT_NOTE,
    FIELDS,
    PARTS,
    TOOL_NAME,
    UNTYPED,
    USER,
    OpenCall,
    open_call,
    read_part,
    read_parts,
    read_result,
    write_result,
)
from .response import dump_response, is_response, load_response
from .stream import GeminiDecoder
from .wire import FORM, FORMAT_NAME, NAME, NAMES, NULLS, SIGNATURE, Names, camel, normal_parts, restore_parts

HINT: Final = "give {contents}, a list of contents, a response {candidates}, or a list of responses"
INSTRUCTIONS: Final = "instructions"
"""The id of the instructions before the conversation."""

# Clients of Gemini 1 send results in contents of the role `function`.
ROLES: Final = {None: "user", "": "user", "user": "user", "function": "user", "model": "model"}

# Notes about messages
TEXT: Final = "text"  # the form of a content that is a string
PART: Final = "part"  # the form of a content whose parts are one part
ALONE: Final = "alone"  # the only content, or the only entry of `tools`, is not in a list

# For calls that no Gemini made: https://ai.google.dev/gemini-api/docs/thought-signatures
PLACEHOLDER: Final = "skip_thought_signature_validator"


def _is_refused(part: TextPart) -> bool:
    """Whether Gemini refuses a text: an empty one, unless it has a signature.

    "Unable to submit request because it has an empty text parameter":
    https://github.com/google-gemini/deprecated-generative-ai-js/issues/361
    """
    return not part.text and SIGNATURE not in notes(part.provider_metadata, NAME)


RULES: Final = Rules(blank_text=_is_refused)
AS_READ: Final = Rules(hidden="send", calls="any")

NO_ADDRESS: Final = "the file is neither in the message nor at an address that Gemini reads"
REPORT: Final = request_report(
    NAME,
    {
        "role": INSTRUCTIONS_FIRST,
        "tool-call.id": "Google did not give this id: results are matched by order",
        "output": "a result is an object, and is read back as another value",
        "citations": "the API takes no citations",
        "reasoning": "the reasoning of another model means nothing to Gemini",
        "reasoning-file": "the reasoning of another model means nothing to Gemini",
        "tool-call": "it is a server tool of another provider",
        "image": NO_ADDRESS,
        "file": NO_ADDRESS,
    },
    frozenset({NAMES, NULLS, FORM, ALONE, APART, CONTENT_NOTE, BEHIND, UNTYPED, RAW_INPUT}),
)

LAST: Final = "the API demands a conversation that ends with the user"
UNSIGNED: Final = "the call has no signature of Gemini: it gets the documented placeholder"
ONE_KIND: Final = "before Gemini 3, declared tools and tools of Google cannot be used together"


def load(payload: Json) -> Loaded:
    """Read a request, its contents, one of them, a response, or the responses of a stream."""
    match payload:
        case [*items]:
            is_conversation = any(is_object(item) and ("parts" in item or "role" in item) for item in items)
            if not is_conversation and any(is_object(item) or is_array(item) for item in items):
                return _load_response(payload)
            found = tuple(join(_Reader(items, "$[{}]").messages))
            return Loaded(found, write_back=lambda: _write(found, None, is_sent=False)[0]["contents"])
        case {"contents": contents}:
            return _load_request(payload, contents)
        case _ if is_response(payload):
            return _load_response(payload)
        case {"parts": _}:
            found = tuple(join(_Reader([payload], "$").messages))
            return Loaded(
                found, write_back=lambda: next(iter(_write(found, None, is_sent=False)[0]["contents"]), {})
            )
        case _:
            what = "no contents and no candidates" if is_object(payload) else f"{kind_of(payload)}"
            raise ConversionError(f"the request is unknown: {what}", where="$", hint=HINT)


def _load_response(payload: Json) -> Loaded:
    assert RESPONSE.load is not None
    return RESPONSE.load(payload)


def _load_request(payload: JsonObject, contents: Json) -> Loaded:
    if isinstance(contents, str) or is_object(contents):
        reader = _Reader([contents], "$.contents", payload)
    elif is_array(contents):
        reader = _Reader(contents, "$.contents[{}]", payload)
    else:
        raise ConversionError(f"contents is {kind_of(contents)}", where="$.contents", hint=HINT)
    found, request = tuple(join(reader.messages)), _read_request(payload)
    return Loaded(found, request=request, write_back=lambda: _write(found, request, is_sent=False)[0])


def dump(messages: Sequence[Message], request: Request | None = None) -> Dumped:
    """Write `contents` and `systemInstruction`, or a whole request."""
    payload, writer = _write(messages, request, is_sent=True)
    return Dumped(payload, lambda: REPORT.compare(writer.record, writer.read_back()))


def _write(
    messages: Sequence[Message], request: Request | None, *, is_sent: bool
) -> tuple[JsonObject, "_Writer"]:
    """The payload. One that is not sent is not repaired: a request that was read is written as it was."""
    model = None if request is None else request.settings.get("model")
    writer = _Writer(model if isinstance(model, str) and model else None, is_sent=is_sent)
    payload = writer.write(messages)
    return payload if request is None else _write_request(payload, request, writer), writer


# Reading


class _Reader:
    """Reads contents. In `messages`, results are apart from their calls.

    The position of a part is its number, after that of its content; instructions have positions of their own.
    """

    def __init__(self, contents: Sequence[Json], path: str, payload: JsonObject | None = None) -> None:
        self.messages: list[Message] = []
        self.positions: dict[Position, Any] = {}
        self._open: list[OpenCall] = []
        self._role = ""
        for key in ("systemInstruction", "system_instruction"):
            if payload is not None and payload.get(key) is not None:
                self._instructions(payload[key], key)
        for index, raw in enumerate(contents):
            where = path.format(index)
            is_text = isinstance(raw, str) and payload is not None
            content = {"role": "user", "parts": [{"text": raw}]} if is_text else raw
            role = _role(content, where)
            raws, noted = _read_content(content, role, where)
            if payload is not None and payload.get("contents") is raw:
                noted |= {FORM: TEXT} if is_text else {ALONE: True}
            read = self._model if role == "model" else self._user
            read(raws, f"message-{index + 1}", noted, index)
            self._role = role

    def _add(self, message: Message, position: Position, parts: Iterable[tuple[Position, Any]] = ()) -> None:
        self.messages.append(message)
        self.positions[position] = message
        self.positions.update(parts)

    def _instructions(self, raw: Json, key: str) -> None:
        content = {"parts": [{"text": raw}]} if isinstance(raw, str) else raw
        if not is_object(content):
            hint = "make it a content or a string"
            raise ConversionError(f"{key} is {kind_of(raw)}", where=f"$.{key}", hint=hint)
        raws, noted = _read_content(content, None, f"$.{key}")
        if isinstance(raw, str):
            noted[FORM] = TEXT
        if key != "systemInstruction":
            noted[NAMES] = [*noted.get(NAMES, ()), key]
        found = [read_part(USER, one, None) for one in raws]
        parts = tuple(
            part if isinstance(part, TextPart) else ForeignPart(FORMAT_NAME, one)
            for part, one in zip(found, raws, strict=True)
        )
        positions = [((SYSTEM, number), part) for number, part in enumerate(parts)]
        given = SystemContent(parts=parts, provider_metadata=_noted(noted))
        self._add(SystemMessage(id=INSTRUCTIONS, content=given), (SYSTEM,), positions)

    def _model(self, raws: Sequence[Json], id_: str, noted: JsonObject, index: int) -> None:
        if self._role == "model":
            noted[APART] = True
        else:
            self._open = []
        found = read_parts(raws, id_)
        parts: tuple[AssistantPart, ...] = tuple(part for part, _ in found)
        given = AssistantContent(parts=parts, provider_metadata=_noted(noted))
        positions = [((index, position), part) for part, position in found]
        self._add(AssistantMessage(id=id_, content=given), (index,), positions)
        for part in parts:
            if type(part) is ToolCallPart and not part.provider_executed:
                self._open.append(open_call(part, id_))

    def _user(self, raws: Sequence[Json], id_: str, noted: JsonObject, index: int) -> None:
        parts: list[Any] = []
        results: dict[str, list[ToolResultPart]] = {}  # by the message of their calls
        for number, raw in enumerate(raws):
            block = wire.parse_part(raw)
            if isinstance(block, wire.Result):
                call = self._call_of(block.function_response, f"{id_}-{number}")
                part: Any = read_result(block, call)
                if noted:
                    part, noted = with_part_notes(part, NAME, {CONTENT_NOTE: noted}), {}
                results.setdefault(call.message_id, []).append(part)
            else:
                part = read_part(USER, raw, None)
                parts.append(part)
            self.positions[index, number] = part
        for message_id, given in results.items():
            owner = f"{message_id}#1:results" if message_id else id_
            self._add(ToolMessage(id=owner, content=given), (index, "results"))
        if parts or not results:
            if self._role == "user" and not results:
                noted[APART] = True
            content = UserContent(parts=tuple(parts), provider_metadata=_noted(noted))
            self._add(UserMessage(id=id_, content=content), (index,))

    def _call_of(self, result: wire.FunctionResponse, id_: str) -> OpenCall:
        """The call of a result: the one with its id, or the next one with its name, or the next one."""
        google_id, name = result.id or None, result.name or ""
        same = [call for call in self._open if google_id is not None and call.google_id == google_id]
        found = same or [call for call in self._open if TOOL_NAME.fit(call.name) == name] or self._open
        if not found:
            return OpenCall(google_id or id_, name, None)
        call = found[0]
        self._open.remove(call)
        return call


def _role(content: Json, path: str) -> str:
    if not is_object(content):
        raise ConversionError(f"a content is {kind_of(content)}", where=path, hint="give {role, parts}")
    if "role" not in content and "parts" not in content:
        raise ConversionError("a content without parts", where=path, hint="give {role, parts}")
    role = content.get("role")
    if role is not None and not isinstance(role, str):
        raise ConversionError(f"role is {kind_of(role)}", where=f"{path}.role", hint="use user or model")
    if role not in ROLES:
        raise ConversionError(f"unknown role {role!r:.40}", where=f"{path}.role", hint="use user or model")
    return ROLES[role]


def _read_content(content: JsonObject, role: str | None, path: str) -> tuple[list[Json], JsonObject]:
    """The parts of a content in camelCase, and the notes about it. `role` is the role that is written."""
    given = content.get("parts")
    form: JsonObject = {}
    if is_object(given):
        given, form = [given], {FORM: PART}
    elif given is not None and not is_array(given):
        raise ConversionError(
            f"the parts of a content are {kind_of(given)}", where=f"{path}.parts", hint="make it an array"
        )
    for number, part in enumerate(given or ()):
        if not is_object(part):
            hint = "make it an object such as {text}"
            raise ConversionError(f"a part is {kind_of(part)}", where=f"{path}.parts[{number}]", hint=hint)
    parts, noted = normal_parts(given or ())
    if content.get("role", UNSET) != (role or UNSET) or not content.keys() <= {"role", "parts"}:
        around = {key: item for key, item in content.items() if key != "parts"}
        kept = residue(wire.Content(role=role or UNSET), wire.CONTENT.read(around))
        noted |= {CONTENT_NOTE: kept} if kept else {}
    return parts, {**noted, **form}


def _noted(noted: JsonObject) -> JsonObject | None:
    return {NAME: noted} if noted else None


# Writing

_GENERATION: Final = re.compile(r"(?:^|/)gemini-(\d+)")
_LATEST: Final = re.compile(r"(?:^|/)gemini-[a-z-]*latest$")
_GEMMA: Final = re.compile(r"(?:^|/)gemma-")


def _is_third_generation(model: str) -> bool:
    """Whether calls must be signed, and results may have files: since Gemini 3.

    https://ai.google.dev/gemini-api/docs/gemini-3
    """
    found = _GENERATION.search(model)
    return _LATEST.search(model) is not None or (found is not None and int(found[1]) >= 3)


class _Writer(RoleWriter):
    """Writes contents, and records where."""

    blocks, boundary_reason = PARTS, REPORT.default

    def __init__(self, model: str | None, *, is_sent: bool) -> None:
        super().__init__(NAME)
        self.is_sent = is_sent
        self.is_named = model is not None
        self.is_third = model is not None and _is_third_generation(model)
        self.is_older = model is not None and not self.is_third
        # Gemma has only the roles user and model: https://ai.google.dev/gemma/docs/formatting
        self._has_instructions = model is None or _GEMMA.search(model) is None
        self._calls: dict[str, OpenCall] = {}  # those of the last step
        self._payload: JsonObject = {}
        self._files: list[Json] = []  # files that have to follow all results

    def write(self, messages: Sequence[Message]) -> JsonObject:
        """`contents` and `systemInstruction`."""
        self.write_turns(messages, RULES if self.is_sent else AS_READ, PARTS.is_written)
        self._add_files()
        if self.messages[-1:] and self.messages[-1][0] == "model":
            self._continue(f"$[{len(self.messages)}]", LAST)
        elif not self.messages and self.is_named:
            self._continue("$", USER_FIRST)
        contents: Json = [_write_content(*one) for one in self.messages]
        if len(contents) == 1 and (isinstance(contents[0], str) or ALONE in self.messages[0][2]):
            contents = contents[0]
        payload = self._payload = {"contents": contents}
        if self.system:
            instructions = _write_content(None, self.system, self.system_notes)
            payload |= Names(self.system_notes.get(NAMES, [])).members(
                {"systemInstruction": instructions}, None
            )
        return payload

    def read_back(self) -> dict[Position, Any]:
        """What is read where the parts were written."""
        contents = self._payload["contents"]
        raws = contents if is_array(contents) else [contents]
        return _Reader(raws, "$.contents[{}]", self._payload).positions

    def _continue(self, path: str, why: str) -> None:
        if not self.is_sent:
            return
        self.messages.append(("user", [wire.Text(text=OPENING_PROMPT)], {}))
        self.record.losses.append(Loss(path, OPENING_PROMPT, why, "repaired"))

    def notes_of(self, turn: Instructions | Prompt) -> JsonObject:
        return message_notes(turn.message, NAME)

    def write_instructions(self, turn: Instructions) -> None:
        if self._has_instructions and not self.messages:
            before = self.system_notes
            super().write_instructions(turn)
            self.system_notes = {**before, **self.notes_of(turn)}
        else:
            blocks, positions = self.write_blocks(turn, "system")
            self.add("user", blocks, turn, positions, {})

    def write_step(self, step: Step) -> None:
        blocks, positions = self.write_blocks(step, "assistant")
        self._sign(step, blocks, positions)
        if blocks and not self.messages:
            self._continue("$", USER_FIRST)
        noted = message_notes(step.message, NAME) if step.number == 1 else {}
        self.add("model", blocks, step, positions, noted)
        calls = (part for part, _ in step.parts if type(part) is ToolCallPart)
        self._calls = {part.id: open_call(part) for part in calls}

    def _append(self, role: str, blocks: list[Json], turn: Turn, noted: JsonObject) -> tuple[int, int]:
        if not isinstance(turn, Results):
            self._add_files()
        return super()._append(role, blocks, turn, noted)

    def _sign(self, step: Step, blocks: list[Any], positions: Sequence[Any]) -> None:
        """Give the first call of a step a signature, where Gemini demands one."""
        for (part, path), position in zip(step.parts, positions, strict=True):
            if type(part) is not ToolCallPart or part.provider_executed or position is None:
                continue
            must = self.is_third if self.is_named else not self._is_own(part, step)
            if must and self.is_sent and SIGNATURE not in notes(part.call_provider_metadata, NAME):
                blocks[position] = {**to_json(blocks[position]), SIGNATURE: PLACEHOLDER}
                self.record.losses.append(Loss(path, PLACEHOLDER, UNSIGNED, "repaired"))
            return

    def _is_own(self, call: ToolCallPart, step: Step) -> bool:
        """Whether a call came from Gemini: it has an id of Google, or the one that reading gives it."""
        metadata = step.message.content.metadata
        response = metadata.get("responseId") if is_object(metadata) else None
        made = (f"{response or 'gemini'}-", f"message-{len(self.messages) + 1}-")
        return CALL_ID in notes(call.call_provider_metadata, NAME) or call.id.startswith(made)

    def write_results(self, turn: Results) -> None:
        blocks: list[Any] = []
        noted: JsonObject = {}
        for part, path in turn.parts:
            block = write_result(part, self._calls.get(part.id) or OpenCall(part.id, part.name, None))
            noted = noted or notes(notes(part.provider_metadata, NAME), CONTENT_NOTE)
            files = block.function_response.parts
            # https://ai.google.dev/gemini-api/docs/gemini-3
            if files and self.is_older and self.is_sent:
                self.record.losses.append(
                    Loss(f"{path}.output", f"{len(files)} files", FILES_MOVED, "changed")
                )
                self._files += files
                block = replace(block, function_response=replace(block.function_response, parts=UNSET))
            blocks.append(block)
        self.add("user", blocks, turn, range(len(blocks)), noted)

    def _add_files(self) -> None:
        if self._files:
            self.messages[-1][1].extend(self._files)
            self._files = []


def _write_content(role: str | None, blocks: Sequence[Any], noted: JsonObject) -> Json:
    """A content as it was written."""
    parts: Json = to_json(blocks)
    content = wire.Content(role=role or UNSET)
    if noted:
        parts = restore_parts(parts, noted)
        only = parts[0] if len(parts) == 1 else None
        form = noted.get(FORM)
        if form == TEXT and is_object(only) and only.keys() == {"text"}:
            return only["text"]
        parts = only if form == PART and only is not None else parts
        content = restore(content, notes(noted, CONTENT_NOTE))
    return {**to_json(content), "parts": parts}


# Requests

_NOT_SETTINGS: Final = ("contents", "systemInstruction", "system_instruction", "tools")
DECLARATIONS: Final = "functionDeclarations"

# Notes about tools
ENTRY: Final = "entry"  # the position of the entry of `tools` that declares the tool, if it is not the first
HAS_OTHERS: Final = "beside"  # the entry has other members
SCHEMA: Final = "schema"  # `parameters` or `OpenAPI`, if the schema was in `parameters`
OPEN_API: Final = "OpenAPI"

# https://ai.google.dev/api/caching#Type. JSON schema writes them in lower case.
_TYPES: Final = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})


def _read_request(payload: JsonObject) -> Request:
    """The request around contents. Tools of Google stay among the settings."""
    settings: JsonObject = {
        key: item
        for key, item in payload.items()
        if key not in _NOT_SETTINGS or (item is None and key != "contents")
    }
    tools: Json = payload.get("tools")
    if tools is None:
        return Request((), settings)
    specs: list[ToolSpec] = []
    others: list[Json] = []
    for index, entry in enumerate(tools if is_array(tools) else [tools]):
        entries = entry.items() if is_object(entry) else ()
        key, declared = next((one for one in entries if camel(one[0]) == DECLARATIONS and one[1]), ("", None))
        if not is_array(declared):
            others.append(entry)
            continue
        rest = {name: item for name, item in entry.items() if name != key}
        noted: JsonObject = {ENTRY: index} if index or rest else {}
        noted |= {HAS_OTHERS: True} if rest else {}
        noted |= {NAMES: [key]} if key != DECLARATIONS else {}
        noted |= {} if is_array(tools) else {ALONE: True}
        specs += [_read_tool(one, noted, f"$.tools[{index}].{key}[{at}]") for at, one in enumerate(declared)]
        others += [rest] if rest else []
    return Request(tuple(specs), {**settings, "tools": others} if others else settings)


def _read_tool(raw: Json, noted: JsonObject, path: str) -> ToolSpec:
    if not is_object(raw) or not isinstance(raw.get("name"), str) or not raw["name"]:
        what = "a declaration without a name" if is_object(raw) else f"a declaration is {kind_of(raw)}"
        raise ConversionError(what, where=path, hint="make it {name, description, parameters}")
    names = Names()
    declaration = wire.DECLARATION.read(names.members(raw, None))
    noted = {**noted, NAMES: [*noted.get(NAMES, ()), *sorted(names.found)]} if names.found else noted
    schema = declaration.parameters_json_schema
    if not is_object(schema) and is_object(declaration.parameters):
        schema = _with_types(declaration.parameters, str.lower)
        noted = {**noted, SCHEMA: "parameters" if schema == declaration.parameters else OPEN_API}
    spec = ToolSpec(
        name=declaration.name,
        description=declaration.description or None,
        input_schema=schema if is_object(schema) else None,
    )
    kept = residue(_write_tool(spec, noted), declaration)
    noted = {**noted, FIELDS: kept} if kept else noted
    return replace(spec, extra=Extra({NAME: noted})) if noted else spec


def _write_tool(spec: ToolSpec, noted: JsonObject) -> wire.Declaration:
    schema: Any = UNSET if spec.input_schema is None else spec.input_schema
    form = noted.get(SCHEMA)
    return wire.Declaration(
        TOOL_NAME.fit(spec.name),
        spec.description or UNSET,
        UNSET if form else schema,
        UNSET if not form else _with_types(schema, str.upper) if form == OPEN_API else schema,
    )


def _with_types(schema: Json, change: Any) -> Any:
    """A schema with its types in upper or lower case."""
    if is_array(schema):
        return [_with_types(inner, change) for inner in schema]
    if not is_object(schema):
        return schema
    return {
        key: change(inner)
        if key == "type" and isinstance(inner, str) and inner.upper() in _TYPES
        else _with_types(inner, change)
        for key, inner in schema.items()
    }


def _write_request(payload: JsonObject, request: Request, writer: _Writer) -> JsonObject:
    settings = {key: item for key, item in request.settings.items() if item is not None or key not in payload}
    given: Json = settings.pop("tools", None)
    others: list[Json] = list(given) if is_array(given) else [] if given is None else [given]
    losses = writer.record.losses
    # https://ai.google.dev/gemini-api/docs/function-calling#multi-tool-use
    if others and request.tools and writer.is_older and writer.is_sent:
        losses += [Loss.of(f"$.tools[{at}]", one, ONE_KIND, "repaired") for at, one in enumerate(others)]
        others = []
    groups: dict[int, tuple[JsonObject, list[Json]]] = {}
    for index, spec in enumerate(request.tools):
        noted = notes(dict(spec.extra) if spec.extra else None, NAME)
        written: JsonObject = to_json(restore(_write_tool(spec, noted), notes(noted, FIELDS)))
        if written["name"] != spec.name:
            losses.append(Loss(f"$.tools[{index}].name", spec.name, RENAMED, "repaired"))
        written = Names(noted.get(NAMES, [])).members(written, None)
        at = noted.get(ENTRY)
        groups.setdefault(at if type(at) is int else 0, (noted, []))[1].append(written)
    for at, (noted, declared) in sorted(groups.items()):
        declarations = Names(noted.get(NAMES, [])).members({DECLARATIONS: declared}, None)
        beside = others[at] if noted.get(HAS_OTHERS) and at < len(others) else None
        if is_object(beside):
            others[at] = {**beside, **declarations}
        else:
            others.insert(at, declarations)
    is_alone = len(groups) == len(others) == 1 and ALONE in groups.get(0, ({},))[0]
    tools: JsonObject = {"tools": others[0] if is_alone else others} if others or is_array(given) else {}
    return {**payload, **tools, **settings}


FORMAT: Final = Format(
    FORMAT_NAME,
    "contents and responses of Google's generateContent",
    load,
    dump,
    GeminiDecoder,
    takes_request=True,
    is_complete=True,
)
RESPONSE: Final = Format(
    f"{FORMAT_NAME}-response",
    "responses of Google's generateContent",
    load_response,
    dump_response,
    GeminiDecoder,
    is_complete=True,
)
