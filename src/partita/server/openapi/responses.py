"""Answers of an operation: what it gives, as it is written, and problems in place of everything else."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from partita.server.problems import MEDIA_TYPE
from partita.types.json import JsonObject

from .schemas import REF

EVENT_STREAM: Final = "text/event-stream"

PROBLEM: Final[JsonObject] = {
    "Problem": {
        "title": "Problem",
        "description": "Why a request was refused, or could not be answered: RFC 9457.",
        "type": "object",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": {"type": "string", "format": "uri-reference", "default": "about:blank"},
            "title": {"type": "string", "description": "The name of the status."},
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": {"type": "string", "description": "What is wrong."},
            "where": {"type": "string", "description": "Where: a path such as `$.messages[2].id`."},
            "hint": {"type": "string", "description": "How to fix it."},
            "instance": {"type": "string", "format": "uri", "description": "Its number in the log."},
            "errors": {
                "type": "array",
                "description": "All that is wrong with parameters and body, one by one.",
                "items": {
                    "type": "object",
                    "required": ["what", "where"],
                    "properties": {"what": {"type": "string"}, "where": {"type": "string"}},
                },
            },
        },
        "additionalProperties": True,
        "examples": [
            {
                "type": "about:blank",
                "title": "Not Found",
                "status": 404,
                "detail": "no thread 'chat-7'",
            }
        ],
    }
}

RESPONSES: Final[Mapping[str, str]] = {
    "400": "The request is not valid.",
    "401": "Who asks is not known.",
    "404": "There is no such thing, or it belongs to somebody else.",
    "default": "Any other problem.",
}
"""What may go wrong with every operation; 404 where something is named in the path."""

SUCCESSES: Final[Mapping[str, str]] = {
    "200": "As asked for.",
    "201": "It is made.",
    "202": "It will be done.",
    "204": "Done; there is nothing more to say.",
}
"""What is said of an answer that says nothing of itself but what the standard says of its status."""

EVENTS: Final[JsonObject] = {
    "schema": {
        "type": "string",
        "description": (
            "Server-sent events. Each `data:` line holds one chunk as JSON, as the AI SDK of the client "
            "reads it; the last one holds `[DONE]`. Lines that begin with a colon are signs of life."
        ),
        "x-event": {"$ref": f"{REF}Chunk"},
    },
    "example": (
        'data: {"type":"start","messageId":"m2"}\n\n'
        'data: {"type":"text-start","id":"0"}\n\n'
        'data: {"type":"text-delta","id":"0","delta":"Forty-one metres."}\n\n'
        'data: {"type":"text-end","id":"0"}\n\n'
        'data: {"type":"finish","finishReason":"stop"}\n\n'
        "data: [DONE]\n\n"
    ),
}


def responses_of(
    said: JsonObject, schema: JsonObject | None, *, has_body: bool, has_parameters: bool
) -> JsonObject:
    """All answers of an operation, by status."""
    placed: JsonObject = {
        status: _success(status, answer, schema, has_body=has_body)
        for status, answer in said.items()
        if status < "300"
    }
    for status, description in RESPONSES.items():
        if status != "404" or has_parameters:
            placed[status] = {"description": description, **_problem()}
    return placed


def _problem() -> JsonObject:
    return {"content": {MEDIA_TYPE: {"schema": {"$ref": f"{REF}Problem"}}}}


def _success(status: str, answer: JsonObject, schema: JsonObject | None, *, has_body: bool) -> JsonObject:
    placed = {key: item for key, item in answer.items() if item and key != "content"}
    if placed.get("description") in (HTTPStatus(int(status)).description, None):
        placed["description"] = SUCCESSES.get(status, HTTPStatus(int(status)).phrase)
    content: JsonObject = answer.get("content") or {}
    if content and has_body:
        placed["content"] = {media: _content(media, given, schema) for media, given in content.items()}
    return placed


def _content(media: str, given: JsonObject, schema: JsonObject | None) -> JsonObject:
    if media == EVENT_STREAM:
        return EVENTS
    return given if schema is None else {**given, "schema": schema}
