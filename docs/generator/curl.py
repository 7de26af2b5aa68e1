"""A `curl` command for every route, which can be pasted into a shell. Optional parameters are left out."""

import json
import shlex
from collections.abc import Mapping
from urllib.parse import urlencode

from partita.types.json import Json, JsonObject, is_object

SERVER = "http://127.0.0.1:7272"
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
    "ownerId": "ada",
    "seq": "12",
    "agentName": "keeper",
    "modelId": "keeper",
}
"""Values of required parameters, by name."""

REQUIRED = ("searchQuery",)
"""Parameters that are required although the OpenAPI document does not say so.

Their routes check them themselves, because clients expect an error in another form.
"""


def curl(path: str, method: str, operation: JsonObject, document: JsonObject) -> str:
    """Return the command that sends a request."""
    query: dict[str, str] = {}
    for parameter in operation.get("parameters", ()):
        name = parameter["name"]
        if parameter["in"] == "path":
            path = path.replace("{" + name + "}", EXAMPLES[name])
        elif parameter.get("required") or name in REQUIRED:
            query[name] = EXAMPLES[name]
    url = SERVER + path + (f"?{urlencode(query)}" if query else "")
    words = ["curl", *_method(method, operation), shlex.quote(url) if query else url]
    body = operation.get("requestBody")
    return " ".join(words) + (_body(body, document) if is_object(body) else "")


def _method(method: str, operation: JsonObject) -> list[str]:
    streams = "text/event-stream" in json.dumps(operation["responses"].get("200", {}))
    unbuffered = ["--no-buffer"] if streams else []
    match method:
        case "GET":
            return unbuffered
        case "HEAD":
            return ["--head"]
        case "POST" if "requestBody" in operation:
            return unbuffered
        case _:
            return [*unbuffered, "--request", method]


def _body(body: JsonObject, document: JsonObject) -> str:
    content: JsonObject = body["content"]
    if "application/json" not in content or len(content) > 1:
        media = "application/x-ndjson" if "application/x-ndjson" in content else "image/png"
        file = "session.jsonl" if media.endswith("ndjson") else "tower.png"
        return f" \\\n  --header 'content-type: {media}' --data-binary @{file}"
    media_type = content["application/json"]
    examples: JsonObject = media_type.get("examples", {})
    value: Json = (
        next(iter(examples.values()))["value"]
        if examples
        else example_of(media_type.get("schema", {}), document)
    )
    text = json.dumps(value, ensure_ascii=False)
    return f" \\\n  --header 'content-type: application/json' \\\n  --data {shlex.quote(text)}"


def example_of(schema: Json, document: JsonObject) -> Json:
    """Return the example of a schema, or a value with all required members."""
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
