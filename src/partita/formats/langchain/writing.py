"""An answer as an AI message of LangChain: its content in either version, and the calls beside it."""

from typing import Any

from partita.formats.framework.members import Members, noted
from partita.formats.framework.steps import Placed, Step, insert_at_places
from partita.types.data_url import inline_of, text_url
from partita.types.json import Json, JsonObject, is_array, is_object
from partita.types.messages import AssistantMessage, AssistantPart, ToolCallPart
from partita.types.parts import ReasoningPart, TextPart

from .answers import read_answer
from .blocks import read_block, write_block
from .calls import (
    SIGNATURES,
    Written,
    read_call,
    read_invalid,
    read_server_call,
    read_server_result,
    signed,
    write_call,
    write_server_call,
)
from .envelope import NAME, wrapped
from .plain import REASONING
from .shapes import SHAPE, joined, namespace_for, reshaped, standard
from .signing import PROVIDERS, guessed, namespace_of
from .usage import write_usage


def modern(block: JsonObject) -> Json:
    """A block as version 1 has it."""
    rest = {key: value for key, value in block.items() if key not in {SHAPE, "arguments", "plain"}}
    if block.get("summary") == []:
        rest.pop("summary", None)
    annotations = rest.get("annotations")
    if is_array(annotations):
        rest["annotations"] = [_modern_annotation(one) for one in annotations]
    return rest


def _modern_annotation(annotation: Json) -> Json:
    if is_object(annotation) and annotation.get("type") == "url_citation":
        return {**annotation, "type": "citation"}
    return annotation


def classic(block: JsonObject, namespace: str | None) -> Json:
    """A block as version 0 has it: as it was, else as older code expects it."""
    if SHAPE not in block:
        shape = _classic_shape(block, namespace)
        if shape is None:
            return block
        block = {**_in_bytes(block), SHAPE: shape}
        if shape == "source_type" and "file_id" not in block:
            block.pop("id", None)
    return reshaped(block)


def _in_bytes(block: JsonObject) -> JsonObject:
    """A plain text as the file it was before there were blocks for it."""
    text = block.get("text")
    inline = (
        inline_of(text_url(text)) if block.get("type") == "text-plain" and isinstance(text, str) else None
    )
    if inline is None:
        return block
    rest = {key: value for key, value in block.items() if key != "text"}
    return {"mime_type": inline.media_type, **rest, "type": "file", "base64": inline.data}


def _classic_shape(block: JsonObject, namespace: str | None) -> str | None:
    match block.get("type"):
        case "reasoning" if namespace == "openai":
            return "summary"
        case "reasoning" if namespace == "anthropic":
            return "thinking" if not {"id"} & set(block) else None
        case "non_standard" if _is_redacted(block):
            return "redacted_thinking"
        case "image" if "url" in block or "base64" in block:
            return "image_url"
        case "audio" | "file" | "text-plain":
            return "source_type"
        case _:
            return None


def _is_redacted(block: JsonObject) -> bool:
    value = block.get("value")
    return is_object(value) and value.get("type") == "redacted_thinking"


def provider_of(message: AssistantMessage, *, is_v1: bool) -> str | None:
    """The namespace of the provider that the parts of a message belong to. All of its steps share it."""
    return guessed(_metadata(part) for part in message.parts if is_v1 or not _shape(part))


class Answer:
    """One step of an answer on its way."""

    def __init__(self, step: Step, namespace: str | None, *, is_v1: bool) -> None:
        """`namespace`: that of the provider that the parts of the message belong to, see `provider_of`."""
        self.step, self.is_v1 = step, is_v1
        note = noted(step.message.content.provider_metadata, NAME)
        self.note: JsonObject = dict(note) if step.number == 1 else {}
        self.named = namespace_of(note)
        self.namespace = self.named or namespace
        self.is_string = bool(self.note.pop("string", False)) and self._is_only_text()
        self.as_list = bool(self.note.pop("list", False))
        self.calls: dict[int, Written] = {}
        self.signatures: JsonObject = {}

    def written(self, id_: str | None) -> JsonObject:
        """The message dict."""
        content, reasoning = self._content()
        note = self._about(reasoning, is_list=is_array(content))
        usage = self.step.message.content.usage if self.step.number == 1 else None
        entries = [one for one in self.calls.values() if one.is_listed or not self._has_block(one)]
        fields: JsonObject = {
            "tool_calls": [one.entry for one in entries if one.is_valid],
            "invalid_tool_calls": [one.entry for one in entries if not one.is_valid],
            "usage_metadata": None if usage is None else write_usage(usage),
        }
        role = {"role": note.pop("role_")} if "role_" in note else {}
        return wrapped("chat" if role else "ai", content, id_, note, **(role or fields))

    def _content(self) -> tuple[Json, list[str]]:
        blocks: list[JsonObject] = []
        reasoning: list[str] = []
        for part, _ in self.step.parts:
            if isinstance(part, ToolCallPart) and not part.provider_executed:
                blocks += self._call(part)
                continue
            for block in self._blocks(part):
                if self._is_beside(block):
                    reasoning.append(str(block.get("reasoning", "")))
                else:
                    blocks.append(block)
        if self.step.said is not None:
            blocks.append({"type": "text", "text": self.step.said})
        if self.is_string:
            return (blocks[0]["text"] if blocks else ""), reasoning
        if not self.is_v1:
            blocks = joined(blocks)
        return self._shaped(_in_place(blocks)), reasoning

    def _shaped(self, blocks: list[JsonObject]) -> Json:
        if self.is_v1:
            return [modern(block) for block in blocks]
        content = [classic(block, self._namespace(block)) for block in blocks]
        if self.as_list:
            return content
        first = content[0] if content else {"text": ""}
        is_string = (
            len(content) < 2 and is_object(first) and first.get("text") and set(first) == {"type", "text"}
        )
        return first["text"] if is_string or not content else content

    def _namespace(self, block: JsonObject) -> str | None:
        return namespace_for(block, self.namespace)

    def _blocks(self, part: AssistantPart) -> list[JsonObject]:
        if isinstance(part, ToolCallPart):
            return write_server_call(part)
        block = write_block(part, self._namespace({SHAPE: _shape(part)}))
        if block is None or (self._is_beside(block) and not block.get("reasoning")):
            return []
        return [block]

    def _is_beside(self, block: JsonObject) -> bool:
        """Whether reasoning stands beside the content: where there are no blocks for it."""
        if block.get("type") != "reasoning":
            return False
        if block.get(SHAPE) == REASONING:
            return self.is_string or not self.is_v1
        return not self.is_v1 and SHAPE not in block and self.namespace not in {"anthropic", "openai"}

    def _call(self, call: ToolCallPart) -> list[JsonObject]:
        """The block of a call, if the content has one."""
        written = write_call(call)
        self.calls[id(call)] = written
        signature = noted(call.call_provider_metadata, "google").get("thoughtSignature")
        if self.namespace == "google" and isinstance(signature, str):
            self.signatures[call.id] = signature
        return [written.block] if written.block is not None and self._has_block(written) else []

    def _about(self, reasoning: list[str], *, is_list: bool) -> JsonObject:
        note = dict(self.note)
        about = note.get("response_metadata")
        response: JsonObject = dict(about) if is_object(about) else {}
        if self.named is None and self.namespace is not None:
            response["model_provider"] = PROVIDERS[self.namespace]
        elif self.step.number > 1 and self.named is not None:
            response["model_provider"] = PROVIDERS[self.named]
        if self.is_v1 and is_list:
            response["output_version"] = "v1"
        kwargs: JsonObject = (
            dict(note["additional_kwargs"]) if is_object(note.get("additional_kwargs")) else {}
        )
        if reasoning:
            kwargs[REASONING] = "\n\n".join(reasoning)
        if self.signatures:
            kwargs[SIGNATURES] = self.signatures
        return {**note, "response_metadata": response, "additional_kwargs": kwargs}

    def in_order(self) -> list[Placed]:
        """The parts in the order they are read again: calls that have no block come last."""
        return sorted(self.step.parts, key=self._rank)

    def moved(self) -> list[tuple[ToolCallPart, str]]:
        """The calls that stood before something they now stand behind."""
        found: list[tuple[ToolCallPart, str]] = []
        last = 0 if self.step.said is not None else 9
        for part, path in reversed(self.step.parts):
            rank = self._rank(Placed(part, path))
            if rank > last and isinstance(part, ToolCallPart):
                found.append((part, path))
            last = min(rank, last)
        return found

    def _rank(self, placed: Placed) -> int:
        written = self.calls.get(id(placed.part))
        if written is None or self._has_block(written):
            return 0
        return 1 if written.is_valid else 2

    def _has_block(self, written: Written) -> bool:
        if written.block is None or self.is_string:
            return False
        return self.is_v1 or SHAPE in written.block

    def _is_only_text(self) -> bool:
        """Whether the content can be a string: one text without anything to it, or none."""
        rest = [
            part
            for part, _ in self.step.parts
            if not (isinstance(part, ToolCallPart) and not part.provider_executed)
            and _shape(part) != REASONING
        ]
        plain = all(
            isinstance(part, TextPart) and part.citations is None and not part.provider_metadata
            for part in rest
        )
        return plain and len(rest) + (self.step.said is not None) <= 1

    def is_silent(self, raw: JsonObject) -> bool:
        """Whether the message says nothing and calls nothing."""
        data = raw["data"]
        kwargs = data["additional_kwargs"]
        return not (data["content"] or data.get("tool_calls") or data.get("invalid_tool_calls") or kwargs)

    # What reading it again gives

    def shell(self, raw: JsonObject) -> AssistantMessage | None:
        """The message around the parts."""
        about: JsonObject = {**raw["data"], "content": "", "tool_calls": [], "invalid_tool_calls": []}
        members = Members(about)
        for name in ("id", "type"):
            members.any(name)
        if "role" in about:
            members.left["role_"] = members.any("role")
        if self.as_list:
            members.left["list"] = True
        return read_answer(members, self.step.message.id, "$", set())

    def again(self, part: AssistantPart) -> AssistantPart | None:
        """A part as it is read again."""
        if isinstance(part, ToolCallPart):
            said, *results = write_server_call(part)
            call = read_server_call(said)
            return call if call is None or not results else read_server_result(call, results[0])
        blocks = self._blocks(part)
        if not blocks:
            return None
        found: Any = modern(blocks[0]) if self.is_v1 else classic(blocks[0], self._namespace(blocks[0]))
        if self._is_beside(blocks[0]):
            found = {"type": "reasoning", "reasoning": blocks[0].get("reasoning", "")}
        block = standard(found)[0]
        return read_block(block, self._namespace(block) if is_object(block) else None)  # type: ignore[return-value]

    def again_call(self, call: ToolCallPart, *, is_answered: bool) -> ToolCallPart | None:
        """A call as it is read again, without its result."""
        written = self.calls[id(call)]
        block: Any = None
        if written.block is not None and self._has_block(written):
            found = modern(written.block) if self.is_v1 else classic(written.block, self.namespace)
            block = standard(found)[0]
        entry = written.entry if written.is_listed or block is None else None
        if not written.is_valid:
            return read_invalid(block, entry, call.id, is_answered=is_answered)
        again = read_call(block, entry, call.id, is_v1=self.is_v1)
        return None if again is None else signed(again, self.signatures)


def _in_place(blocks: list[JsonObject]) -> list[JsonObject]:
    """Results of the provider's tools where they stood."""
    moved = [
        (block["at"], {key: value for key, value in block.items() if key != "at"})
        for block in blocks
        if type(block.get("at")) is int
    ]
    if not moved:
        return blocks
    found = [block for block in blocks if type(block.get("at")) is not int]
    insert_at_places(found, moved)
    return found


def _metadata(part: AssistantPart) -> JsonObject | None:
    match part:
        case ToolCallPart():
            return part.call_provider_metadata
        case TextPart() | ReasoningPart():
            return part.provider_metadata
        case _:
            return None


def _shape(part: AssistantPart) -> Any:
    return noted(getattr(part, "provider_metadata", None), NAME).get(SHAPE)
