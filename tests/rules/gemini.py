"""What generateContent insists on."""

import re
from collections.abc import Iterator, Sequence

from partita.types.json import Json, JsonObject, is_object

from .looking import not_objects, objects

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
DATA = frozenset(
    {
        "text",
        "inlineData",
        "fileData",
        "functionCall",
        "functionResponse",
        "executableCode",
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
    }
)
"""What a part is; it is one of them, and only one."""


def problems(body: JsonObject, *, signed: bool = False) -> list[str]:
    """What the API would refuse in a request; models from Gemini 3 on want their calls `signed`."""
    contents = objects(body["contents"])
    found = [*not_objects(body["contents"], "contents"), *_each(contents), *_pairs(contents)]
    return [*found, *_signatures(contents)] if signed else found


def _each(contents: Sequence[JsonObject]) -> Iterator[str]:
    for index, content in enumerate(contents):
        where = f"contents[{index}]"
        if content["role"] not in ("user", "model"):
            yield f"{where}: the role {content['role']!r}"
        yield from not_objects(content["parts"], where)
        for part in objects(content["parts"]):
            yield from _part(part, content["role"], where)
    if contents and contents[0]["role"] != "user":
        yield "contents[0]: it does not begin with the user"
    if contents and contents[-1]["role"] == "model":
        yield "the end: it ends with the model"


def _part(part: JsonObject, role: str, where: str) -> Iterator[str]:
    kinds = DATA & part.keys()
    if len(kinds) != 1:
        yield f"{where}: a part that is {sorted(kinds)}"
    if part.get("text") == "" and "thoughtSignature" not in part:
        yield f"{where}: empty text"
    if role == "user" and ("functionCall" in part or "thought" in part):
        yield f"{where}: a call or a thought of the user"
    match part:
        case {"functionCall": {"name": str(name), **rest}}:
            if not NAME.fullmatch(name):
                yield f"{where}: the name {name!r}"
            if not is_object(rest.get("args", {})):
                yield f"{where}: arguments that are no object"
        case {"functionResponse": {"response": response}}:
            yield from [] if is_object(response) else [f"{where}: a response that is no object"]
        case {"inlineData": {"mimeType": str(), "data": str()}} | {"fileData": {"fileUri": str()}}:
            pass
        case {"inlineData": _} | {"fileData": _} | {"functionCall": _} | {"functionResponse": _}:
            yield f"{where}: not whole: {sorted(part)}"
        case _:
            pass


def _pairs(contents: Sequence[JsonObject]) -> Iterator[str]:
    """Behind calls stand as many responses, in their order, all in one content; and nowhere else."""
    for index, content in enumerate(contents):
        before = contents[index - 1] if index else {}
        asked, given = _named(before, "functionCall"), _named(content, "functionResponse")
        if asked != given:
            yield f"contents[{index}]: responses {given} for calls {asked}"
        if _named(content, "functionCall") and before.get("role") != "user":
            yield f"contents[{index}]: calls that follow no user"


def _named(content: JsonObject, kind: str) -> list[Json]:
    return [part[kind].get("name") for part in objects(content.get("parts")) if kind in part]


def _signatures(contents: Sequence[JsonObject]) -> Iterator[str]:
    """The first call of every step since the user spoke last is signed."""
    spoken = [
        i for i, one in enumerate(contents) if one["role"] == "user" and not _named(one, "functionResponse")
    ]
    for index in range(max(spoken, default=0), len(contents)):
        calls = [part for part in objects(contents[index]["parts"]) if "functionCall" in part]
        if calls and not calls[0].get("thoughtSignature"):
            yield f"contents[{index}]: a call without a signature"
