"""Print random streams of chunks with their messages, as JSON lines."""

import random
import sys
from typing import Any

from partita.stream.accumulator import Accumulator
from partita.types.codec import decode_chunk, to_json
from partita.types.json import dumps

WORDS = ["a", "b c", "\u00fc", "\U0001f600", "\ud83d", "\ude00", "", "line\n", '"q"', "\\", "{"]
INPUTS = [
    '{"path":"a.py","lines":[1,2.5,-3e2],"ok":true,"none":null}',
    '{"text":"one\\ntwo \\u00fc \\ud83d\\ude00 \\"x\\""}',
    '[{"a":{"b":[[],{}]}},"tail"]',
    '"just text"',
    "-12.5e3",
    "nonsense {",
    '{"__proto__":{"x":1}}',
    '{"constructor":{"prototype":1}}',
    "tru",
    "",
]
VALUES: list[Any] = [None, "words", 3, -0.5, True, [], {"a": [1, {"b": None}]}, {}, ["x"]]
CALLS = ["c1", "c2", "c3"]
OUTPUTS: list[Any] = [
    {"type": "text", "value": "done"},
    {"type": "json", "value": {"n": 1}},
    {"type": "error-text", "value": "no"},
    {"type": "error-json", "value": [1]},
    {"type": "execution-denied", "reason": "not now"},
    {"type": "interrupted", "reason": "timeout"},
    {"type": "content", "value": [{"type": "text", "text": "seen"}]},
]


class Writer:
    """Writes random chunks. Most are valid; invalid ones are skipped by the reducer."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice

    def chunk(self, depth: int = 0) -> dict[str, Any]:
        """A chunk with some of its optional fields."""
        kinds = [self.block, self.block, self.block, self.tool, self.tool, self.tool, self.other, self.frame]
        if depth < 3:
            kinds += [self.child]
        made = self.dice.choice(kinds)(depth)
        return {key: value for key, value in made.items() if value is not ...}

    def maybe(self, value: Any, odds: float = 0.3) -> Any:
        """The value, or a marker to omit the field."""
        return value if self.dice.random() < odds else ...

    def metadata(self) -> Any:
        """Optional metadata of the provider."""
        return self.maybe({"p": {"n": self.dice.randint(0, 9)}}, 0.15)

    def block(self, _: int) -> dict[str, Any]:
        """A chunk of a text or of reasoning."""
        kind = self.dice.choice(["text", "reasoning"])
        step = self.dice.choice(["start", "delta", "delta", "delta", "end"])
        made = {"type": f"{kind}-{step}", "id": self.dice.choice("12"), "providerMetadata": self.metadata()}
        if step == "delta":
            made["delta"] = self.dice.choice(WORDS)
        if made["type"] == "text-end":
            source = {"sourceType": "url", "id": "s", "url": "https://example.org/"}
            made["citations"] = self.maybe([{"source": source, "startIndex": 0, "endIndex": 2}], 0.2)
        return made

    def tool(self, _: int) -> dict[str, Any]:
        """A chunk of a tool call."""
        dice = self.dice
        call = {"toolCallId": dice.choice(CALLS)}
        name = {"toolName": dice.choice(["read", "write"])}
        fields = {
            "providerExecuted": self.maybe(dice.random() < 0.5, 0.2),
            "providerMetadata": self.metadata(),
            "toolMetadata": self.maybe({"m": dice.randint(0, 9)}, 0.2),
            "dynamic": self.maybe(dice.random() < 0.7, 0.4),
        }
        titled = {**fields, "title": self.maybe("Title", 0.2)}
        text = dice.choice(INPUTS)
        cut = dice.randint(0, len(text))
        approval = {"approvalId": f"a-{call['toolCallId']}"}
        preliminary = {"preliminary": self.maybe(True)}
        return dice.choice(
            [
                {
                    "type": "tool-input-start",
                    **call,
                    **name,
                    **titled,
                    "inputEncoding": self.maybe(dice.choice(["json", "text"]), 0.3),
                },
                {"type": "tool-input-delta", **call, "inputTextDelta": text[:cut]},
                {"type": "tool-input-delta", **call, "inputTextDelta": text[cut:]},
                {"type": "tool-input-available", **call, **name, **titled, "input": dice.choice(VALUES)},
                {
                    "type": "tool-input-error",
                    **call,
                    **name,
                    **titled,
                    "input": dice.choice(VALUES),
                    "errorText": "bad",
                },
                {
                    "type": "tool-approval-request",
                    **approval,
                    **call,
                    "reason": self.maybe("why", 0.4),
                    "isAutomatic": self.maybe(dice.random() < 0.5),
                    "signature": self.maybe("sig"),
                    "approvalDescriptor": self.maybe(dice.choice(VALUES)),
                    "inputSchemaInput": self.maybe(dice.choice(VALUES)),
                },
                {
                    "type": "tool-approval-response",
                    **approval,
                    "approved": dice.random() < 0.5,
                    "reason": self.maybe("because"),
                    "providerExecuted": self.maybe(True),
                    "providerMetadata": self.metadata(),
                },
                {
                    "type": "tool-output-available",
                    **call,
                    **fields,
                    **preliminary,
                    "output": dice.choice(VALUES),
                },
                {"type": "tool-output-error", **call, **fields, "errorText": "failed"},
                {"type": "tool-output-denied", **call},
                {
                    "type": "tool-output-typed",
                    **call,
                    **{key: value for key, value in fields.items() if key != "dynamic"},
                    **preliminary,
                    "output": dice.choice(OUTPUTS),
                },
            ]
        )

    def other(self, _: int) -> dict[str, Any]:
        """A chunk of a file, a source, data, a network, or of an unknown type."""
        dice = self.dice
        url = {"url": "https://example.org/f", "mediaType": "text/plain", "providerMetadata": self.metadata()}
        return dice.choice(
            [
                {"type": "file", **url},
                {"type": "reasoning-file", **url},
                {"type": "source-url", "sourceId": "s", "url": url["url"], "title": self.maybe("T")},
                {
                    "type": "source-document",
                    "sourceId": "d",
                    "mediaType": "text/plain",
                    "title": "T",
                    "filename": self.maybe("f.txt"),
                },
                {"type": "custom", "kind": "p.thing", "providerMetadata": self.metadata()},
                {
                    "type": "steering-message",
                    "id": "u",
                    "parts": [{"type": "text", "text": dice.choice(["stop", "go"])}],
                },
                {
                    "type": f"data-{dice.choice(['todo', 'note'])}",
                    "data": dice.choice(VALUES),
                    "id": self.maybe(dice.choice("xy"), 0.6),
                    "transient": self.maybe(dice.random() < 0.4),
                    "name": self.maybe("own", 0.1),
                    "more": self.maybe(1, 0.2),
                },
                {
                    "type": "network-execution-start",
                    "primitiveType": dice.choice(["agent", "tool"]),
                    "primitiveId": "helper",
                    "selectionReason": self.maybe("fits"),
                    "input": self.maybe(dice.choice(VALUES)),
                    "iteration": self.maybe(2),
                },
                {
                    "type": "network-execution-end",
                    "finalResult": self.maybe({"text": "all done", "value": dice.choice(VALUES)}, 0.8),
                },
                {"type": "never-heard-of", "x": 1},
            ]
        )

    def frame(self, _: int) -> dict[str, Any]:
        """Starts, steps, ends, metadata."""
        dice = self.dice
        metadata = self.maybe(
            dice.choice([{"a": 1}, {"a": {"b": [1]}}, {"a": {"c": 2}, "__proto__": 1}]), 0.6
        )
        return dice.choice(
            [
                {
                    "type": "start",
                    "messageId": self.maybe(dice.choice(["m1", "m1", "m2"])),
                    "messageMetadata": metadata,
                },
                {"type": "start-step"},
                {"type": "start-step"},
                {"type": "finish-step"},
                {"type": "reset-step"} if dice.random() < 0.3 else {"type": "start-step"},
                {"type": "message-metadata", "messageMetadata": dice.choice([{"a": 2}, {"d": [None]}, {}])},
                {"type": "finish", "finishReason": self.maybe("stop"), "messageMetadata": metadata},
                {"type": "abort"},
                {"type": "error", "errorText": "oh"},
            ]
        )

    def child(self, depth: int) -> dict[str, Any]:
        """Something a sub-agent does, or the network."""
        dice = self.dice
        path = [dice.choice([*CALLS, "m1:network"]) for _ in range(dice.choice([1, 1, 2]))]
        if dice.random() < 0.3:
            message = {
                "role": "user",
                "id": f"u{dice.randint(0, 3)}",
                "type": "text",
                "content": {"parts": [{"type": "text", "text": "do it"}], "format": 2},
            }
            return {"type": "child-message", "path": path, "message": message}
        return {"type": "child", "path": path, "chunk": self.chunk(depth + 1)}


def main(count: int) -> None:
    """Print streams with their chunks, some snapshots and the final message."""
    for seed in range(count):
        writer = Writer(random.Random(seed))
        chunks = [decode_chunk(dumps(writer.chunk())) for _ in range(writer.dice.randint(5, 60))]
        accumulator = Accumulator(id="m1", lenient=True)
        snapshots: dict[int, Any] = {}
        for number, chunk in enumerate(chunks):
            accumulator.feed(chunk)
            if writer.dice.random() < 0.2:
                snapshots[number] = to_json(accumulator.snapshot())
        stream = {
            "seed": seed,
            "chunks": [to_json(chunk) for chunk in chunks],
            "snapshots": snapshots,
            "message": to_json(accumulator.snapshot()),
            "errors": list(accumulator.errors),
        }
        sys.stdout.buffer.write(dumps(stream) + b"\n")


if __name__ == "__main__":
    main(int(sys.argv[1]))
