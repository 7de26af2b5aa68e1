"""A request that can be pasted, for every route: what must be given is given, the rest is left out."""

import json
import shlex
from collections.abc import Mapping
from urllib.parse import urlencode

from partita.types.json import Json, JsonObject, is_object

HERE = "http://127.0.0.1:7272"
REF = "#/components/schemas/"
DIGEST = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

EXAMPLES: Mapping[str, str] = {
    "threadId": "chat-1",
    "chatId": "chat-1",
    "messageId": "m1",
    "runId": "run-1",
    "otherId": "run-2",
    "index": "0",
    "digest": DIGEST,
    "q": "lighthouse",
    "searchQuery": "lighthouse",
    "resourceId": "ada",
    "seq": "12",
    "agentName": "keeper",
    "modelId": "keeper",
}
"""What stands in the place of a parameter that must be given, by its name."""


ASKED = ("searchQuery",)
"""Parameters that a route asks for itself, in the words of its clients."""


def curl(path: str, method: str, said: JsonObject, document: JsonObject) -> str:
    """The command that sends a request."""
    query: dict[str, str] = {}
    for one in said.get("parameters", ()):
        if one["in"] == "path":
            path = path.replace("{" + one["name"] + "}", EXAMPLES[one["name"]])
        elif one.get("required") or one["name"] in ASKED:
            query[one["name"]] = EXAMPLES[one["name"]]
    words = ["curl", *_method(method, said)]
    address = HERE + path + (f"?{urlencode(query)}" if query else "")
    words.append(shlex.quote(address) if query else address)
    body = said.get("requestBody")
    return " ".join(words) + (_sent(body, document) if is_object(body) else "")


def _method(method: str, said: JsonObject) -> list[str]:
    streams = "text/event-stream" in json.dumps(said["responses"].get("200", {}))
    unbuffered = ["--no-buffer"] if streams else []
    match method:
        case "GET":
            return unbuffered
        case "HEAD":
            return ["--head"]
        case "POST" if "requestBody" in said:
            return unbuffered
        case _:
            return [*unbuffered, "--request", method]


def _sent(body: JsonObject, document: JsonObject) -> str:
    content: JsonObject = body["content"]
    if "application/json" not in content or len(content) > 1:
        media = "application/x-ndjson" if "application/x-ndjson" in content else "image/png"
        file = "session.jsonl" if media.endswith("ndjson") else "tower.png"
        return f" \\\n  --header 'content-type: {media}' --data-binary @{file}"
    told = content["application/json"]
    examples: JsonObject = told.get("examples", {})
    value: Json = (
        next(iter(examples.values()))["value"] if examples else example_of(told.get("schema", {}), document)
    )
    text = json.dumps(value, ensure_ascii=False)
    return f" \\\n  --header 'content-type: application/json' \\\n  --data {shlex.quote(text)}"


def example_of(schema: Json, document: JsonObject) -> Json:
    """The least that a schema takes: its own example, or all that must be there."""
    if not is_object(schema):
        return {}
    if "$ref" in schema:
        return example_of(document["components"]["schemas"][schema["$ref"].removeprefix(REF)], document)
    if schema.get("examples"):
        return schema["examples"][0]
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    choices = schema.get("anyOf") or schema.get("oneOf")
    if choices:
        return example_of(choices[0], document)
    match schema.get("type"):
        case "array":
            return [example_of(schema.get("items"), document)]
        case "string":
            return "…"
        case "integer" | "number":
            return 1
        case "boolean":
            return True
        case _:
            properties: JsonObject = schema.get("properties", {})
            return {
                name: EXAMPLES.get(name) or example_of(properties[name], document)
                for name in schema.get("required", ())
            }
