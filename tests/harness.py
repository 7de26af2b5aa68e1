"""Judge us from outside: corpus lines in, our results out.

    .venv/bin/python tests/harness.py accumulate|model_messages|validate|partial_json --version 6|7 \
        < cases.jsonl > results.jsonl

    .venv/bin/python tests/harness.py log FILE… > counts.json

    .venv/bin/python tests/harness.py provider FAMILY FILE… [--chunks] > truths.jsonl

    .venv/bin/python tests/harness.py convert [--from FORMAT] --to FORMAT FILE > payload-and-losses.json

    .venv/bin/python tests/harness.py mutate --from FORMAT --to FORMAT FILE > silent-leaves.json

Each line in is a case with an `id` and its input; each line out has the `id` and our result, with the
fields that the real package's result has. Nothing here knows an expected result.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from partita.errors import ConversionError, DecodeError, PartitaError, StreamError
from partita.formats.ai_sdk.convert import ModelTool, convert_to_model_messages
from partita.formats.ai_sdk.schema import chunk_problems
from partita.formats.ai_sdk.ui.format import dump, load
from partita.formats.ai_sdk.validate import ToolSchemas, validate_ui_messages
from partita.stream.accumulator import Accumulator
from partita.stream.partial_json import parse_partial_json, secure_loads
from partita.stream.sse import SseDecoder, frame
from partita.stream.state import Version
from partita.types.codec import read_chunk
from partita.types.json import Json, JsonObject, dumps, loads
from partita.types.messages import AssistantMessage

Job = Callable[[JsonObject, Version], JsonObject]


class RefusedError(Exception):
    """A chunk that a client of that version refuses."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


def accumulate(case: JsonObject, version: Version) -> JsonObject:
    """What `readUIMessageStream` gives."""
    reader = Reader(case, version)
    error: JsonObject | None = None
    parsed = 0
    try:
        for payload in payloads(case):
            chunk = payload if case.get("mode") is None and "sse" not in case else checked(payload, version)
            parsed += 1
            reader.feed(chunk)
    except StreamError as refusal:
        error = stream_error(refusal)
    except RefusedError as refusal:
        error = {"name": refusal.name, "message": str(refusal)}
    except DecodeError as refusal:
        error = {"name": "DecodeError", "message": str(refusal)}
    result = reader.result(error)
    if "chunks" in case:
        problems = (chunk_problems(chunk, version) for chunk in case["chunks"])
        result["invalidChunks"] = [index for index, found in enumerate(problems) if found]
    if (case.get("mode") == "sse" or "sse" in case) and not _is_reader_error(error):
        result["parsed"] = parsed
    return result


def _is_reader_error(error: JsonObject | None) -> bool:
    """The parser runs ahead of the reader, so how far it was when the reader stopped says nothing."""
    return error is not None and error["name"] in ("AI_UIMessageStreamError", "TypeError")


class Reader:
    """An accumulator and the snapshots a watcher of it sees."""

    def __init__(self, case: JsonObject, version: Version) -> None:
        self.snapshots: list[JsonObject] = []
        self.count = 0
        self.final: JsonObject | None = None
        self.trace: bool = bool(case.get("trace"))
        given = load(case["message"]).messages[0] if case.get("message") else None
        self.accumulator = (
            Accumulator(given, version=version)
            if isinstance(given, AssistantMessage)
            else Accumulator(id=given.id if given else "", version=version)
        )

    def feed(self, chunk: Json) -> None:
        if self.accumulator.feed(read_chunk(chunk)):
            self.count += 1
            self.final = self.message()
            if self.trace:
                self.snapshots.append(self.final)

    def message(self) -> JsonObject:
        # As it is: a reader of an older version keeps what it does not know in a message it continues.
        message: JsonObject = dump([self.accumulator.snapshot()], repair=False).payload[0]
        return message

    def result(self, error: JsonObject | None) -> JsonObject:
        result: JsonObject = {
            "final": self.final,
            "snapshots": self.count,
            "error": error,
            "errorChunks": list(self.accumulator.errors),
        }
        if self.trace:
            result["trace"] = self.snapshots
        state = self.message()
        if error is None and state != self.final:
            result["state"] = state
        return result


def payloads(case: JsonObject) -> list[Json]:
    """The chunks of a case as its reader meets them: values, or the texts of events."""
    if "sse" in case:
        return events(case["sse"])
    if case.get("mode") == "sse":
        return events("".join(frame(dumps(chunk)).decode() for chunk in case["chunks"]))
    return list(case["chunks"])


def events(text: str) -> list[Json]:
    # A browser's encoder replaces half a surrogate pair; so does this.
    data = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()
    decoder = SseDecoder(errors="replace")
    return [*decoder.feed(data), *decoder.finish()]


def checked(payload: str, version: Version) -> Json:
    try:
        chunk = secure_loads(payload)
    except DecodeError as error:
        raise RefusedError("AI_JSONParseError", str(error)) from None
    problems = chunk_problems(chunk, version)
    if problems:
        raise RefusedError("AI_TypeValidationError", str(problems[0]))
    return chunk


def stream_error(error: StreamError) -> JsonObject:
    if not error.chunk_type:
        return {"name": "TypeError", "message": str(error)}
    return {
        "name": "AI_UIMessageStreamError",
        "message": str(error),
        "chunkType": error.chunk_type,
        "chunkId": error.chunk_id,
    }


DATA_PARTS: dict[str, Callable[[JsonObject], JsonObject | None]] = {
    "type-as-text": lambda part: {"type": "text", "text": f"[{part['type']}]"},
    "only-with-id": lambda part: {"type": "text", "text": f"[{part['type']}]"} if "id" in part else None,
    "as-file": lambda part: {
        "type": "file",
        "mediaType": "application/json",
        "data": "data:application/json,1",
    },
}

MODEL_OUTPUTS: dict[str, Callable[[str, Json, Json], JsonObject]] = {
    "wrap": lambda call_id, given, output: {"type": "json", "value": {"wrapped": output}},
    "content": lambda call_id, given, output: {
        "type": "content",
        "value": [{"type": "text", "text": f"ran {call_id}"}],
    },
}


def model_messages(case: JsonObject, version: Version) -> JsonObject:
    """What `convertToModelMessages` gives."""
    options: JsonObject = case.get("options") or {}
    tools = options.get("tools")
    try:
        result = convert_to_model_messages(
            case["messages"],
            version=version,
            ignore_incomplete_tool_calls=bool(options.get("ignoreIncompleteToolCalls")),
            convert_data_part=DATA_PARTS.get(options.get("convertDataPart") or ""),
            tools={name: ModelTool(MODEL_OUTPUTS.get(how or "")) for name, how in tools.items()}
            if tools
            else None,
        )
    except ConversionError as error:
        return {"result": None, "error": {"name": "Error", "message": str(error)}}
    return {"result": result, "error": None}


def validate(case: JsonObject, version: Version) -> JsonObject:
    """What `safeValidateUIMessages` gives."""
    options: JsonObject = case.get("options") or {}
    tools = options.get("tools")
    validation = validate_ui_messages(
        case["messages"],
        version=version,
        metadata_schema=options.get("metadataSchema"),
        data_schemas=options.get("dataSchemas"),
        tools=None
        if tools is None
        else {
            name: ToolSchemas(input=tool.get("inputSchema"), output=tool.get("outputSchema"))
            for name, tool in tools.items()
        },
    )
    if validation.success:
        return {"success": True, "data": validation.messages, "error": None}
    return {"success": False, "data": None, "error": {"name": "Error", "message": str(validation.error)}}


def partial_json(case: JsonObject, version: Version) -> JsonObject:
    """What `parsePartialJson` gives."""
    parsed = parse_partial_json(case["text"], version)
    result: JsonObject = {"state": parsed.state}
    if parsed.state != "failed-parse":
        result["value"] = parsed.value
    return result


JOBS: dict[str, Job] = {
    "accumulate": accumulate,
    "model_messages": model_messages,
    "validate": validate,
    "partial_json": partial_json,
}


def run(job: str, case: JsonObject, version: Version) -> JsonObject:
    """Our result for one case."""
    return {"id": case["id"], **JOBS[job](case, version)}


def judge_conversion(job: str, file: Path, source: str | None, target: str) -> None:
    """Print a converted payload with its losses, or the leaves whose change nobody would notice."""
    from tests.converting import converted, read_payload, silent, spelled

    payload = read_payload(file)
    try:
        result: Json = converted(payload, source, target)
    except PartitaError as error:
        sys.exit(f"{file.name}: {error}")
    if job == "mutate":
        result = [spelled(path) for path in silent(payload, result["from"], target)]
    sys.stdout.buffer.write(dumps(result) + b"\n")


def main() -> None:
    parser = argparse.ArgumentParser(description="Corpus lines in, our results out.")
    parser.add_argument("job", choices=sorted([*JOBS, "log", "provider", "convert", "mutate"]))
    parser.add_argument(
        "files", nargs="*", help="the logs to count; a family, and recordings of it; a payload"
    )
    parser.add_argument("--from", dest="source", help="the format of a payload; guessed when not given")
    parser.add_argument("--to", dest="target", default="canonical", help="the format to convert it to")
    parser.add_argument("--chunks", action="store_true", help="of recordings, the chunks")
    parser.add_argument("--version", type=int, choices=(5, 6, 7), default=7)
    arguments = parser.parse_intermixed_args()
    sys.path.insert(0, str(Path(__file__).parents[1]))  # what some jobs need stands beside this file
    if arguments.job == "log":
        from tests.logs.counting import log_counts  # what it needs, the other jobs do not

        sys.stdout.buffer.write(dumps(log_counts(arguments.files)) + b"\n")
        return
    if arguments.job == "provider":
        from tests.provider_truth.printing import print_recordings

        print_recordings(arguments.files, chunks=arguments.chunks)
        return
    if arguments.job in ("convert", "mutate"):
        for file in arguments.files:
            judge_conversion(arguments.job, Path(file), arguments.source, arguments.target)
        return
    version: Any = arguments.version
    for number, line in enumerate(sys.stdin.buffer, 1):
        if not line.strip():
            continue
        case = loads(line)
        try:
            result = run(arguments.job, case, version)
        except PartitaError as error:
            print(f"line {number}: {error}", file=sys.stderr)
            result = {"id": case["id"], "error": {"name": type(error).__name__, "message": str(error)}}
        sys.stdout.buffer.write(dumps(result) + b"\n")


if __name__ == "__main__":
    main()
