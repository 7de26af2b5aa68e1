"""What Chat Completions and servers like it insist on."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from partita.types.json import Json, JsonObject, is_array

from .looking import NAME_64, not_arguments, not_objects, objects

ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})
USER_PARTS = frozenset({"text", "image_url", "input_audio", "file"})
ASSISTANT_PARTS = frozenset({"text", "refusal", "thinking"})


PARTS: dict[Json, frozenset[str]] = {"assistant": ASSISTANT_PARTS, "user": USER_PARTS}


class Server(NamedTuple):
    """How strict a server is."""

    system_first: bool = False
    user_after_tool: bool = True
    id_: re.Pattern[str] = re.compile(r".+", re.DOTALL)
    system_roles: frozenset[str] = frozenset({"system", "developer"})


OPENAI = Server()
MISTRAL = Server(True, False, re.compile(r"[A-Za-z0-9]{9}"), frozenset({"system"}))


def problems(body: JsonObject, server: Server = OPENAI) -> list[str]:
    """What the server would refuse in a request."""
    messages = body["messages"]
    return [
        *not_objects(messages, "messages"),
        *_each(objects(messages), server),
        *_pairs(objects(messages)),
        *_order(objects(messages), server),
    ]


def _each(messages: Sequence[JsonObject], server: Server) -> Iterator[str]:
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        role: Json = message["role"]
        content: Json = message.get("content")
        if role not in ROLES or (role in ("system", "developer") and role not in server.system_roles):
            yield f"{where}: the role {role!r}"
        if role == "assistant":
            yield from _assistant(message, where, server)
        elif not (isinstance(content, str) or is_array(content)):
            yield f"{where}: no content"
        if is_array(content):
            allowed = PARTS.get(role, frozenset({"text"}))
            yield from not_objects(content, where)
            yield from (f"{where}: a {one['type']}" for one in objects(content) if one["type"] not in allowed)
            yield from _parts(objects(content), where)


def _assistant(message: JsonObject, where: str, server: Server) -> Iterator[str]:
    calls = message.get("tool_calls")
    if message.get("content") is None and not calls and not message.get("audio"):
        yield f"{where}: neither content nor calls"
    if calls is not None:
        yield from not_objects(calls, f"{where}.tool_calls")
    ids = [call["id"] for call in objects(calls)]
    if len(set(ids)) != len(ids):
        yield f"{where}: two calls of one id"
    for call in objects(calls):
        if not server.id_.fullmatch(call["id"]):
            yield f"{where}: the id {call['id']!r}"
        told: JsonObject = call.get("function") or call["custom"]
        if not NAME_64.fullmatch(told["name"]):
            yield f"{where}: the name {told['name']!r}"
        if call["type"] == "function":
            yield from not_arguments(told["arguments"], where)


def _parts(parts: Sequence[JsonObject], where: str) -> Iterator[str]:
    for part in parts:
        match part:
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                if not url.startswith(("https://", "http://", "data:image/")):
                    yield f"{where}: an image at {url[:40]!r}"
            case {"type": "input_audio", "input_audio": {"format": str(kind)}}:
                yield from [] if kind in ("wav", "mp3") else [f"{where}: audio as {kind}"]
            case {"type": "file"}:
                file: JsonObject = part["file"]
                if not (file.get("file_id") or str(file.get("file_data", "")).startswith("data:")):
                    yield f"{where}: a file without data or id"
            case {"type": "text" | "refusal" | "thinking"}:
                pass
            case _:
                yield f"{where}: a part that nobody knows: {part['type']}"


def _pairs(messages: Sequence[JsonObject]) -> Iterator[str]:
    """Behind an answer with calls stand their results, each once, before anything else."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"{where}: a result for no call: {message['tool_call_id']!r}"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"{where}: calls without results: {waiting}"
        waiting = [call["id"] for call in objects(message.get("tool_calls"))]
    if waiting:
        yield f"the end: calls without results: {waiting}"


def _order(messages: Sequence[JsonObject], server: Server) -> Iterator[str]:
    for index, message in enumerate(messages):
        if server.system_first and index and message["role"] in server.system_roles:
            yield f"messages[{index}]: instructions in the talk"
        after_tool = index > 0 and messages[index - 1]["role"] == "tool"
        if not server.user_after_tool and after_tool and message["role"] == "user":
            yield f"messages[{index}]: the user right after a tool"


def empty_words(body: JsonObject) -> list[Json]:
    """Messages that say nothing at all."""
    return [one for one in objects(body["messages"]) if not one.get("content") and not one.get("tool_calls")]
