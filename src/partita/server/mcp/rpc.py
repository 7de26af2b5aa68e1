"""JSON-RPC 2.0, one message a line: what comes in is told apart, what goes out is written."""

from typing import Any, Final, NamedTuple, TypeAlias

from partita.types.json import Json, JsonObject, dumps, is_object

RequestId: TypeAlias = str | int

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
NO_RESOURCE: Final = -32002
"""Of versions with a handshake; the later ones say `INVALID_PARAMS`."""

NO_VERSION: Final = -32022


class RpcError(Exception):
    """A request that is answered with an error of the protocol."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Request(NamedTuple):
    """Somebody waits for an answer."""

    id: RequestId
    method: str
    params: JsonObject


class Notification(NamedTuple):
    """Nobody waits for an answer."""

    method: str
    params: JsonObject


def told_apart(value: Json) -> Request | Notification | None:
    """What a message is. `None`: an answer, and nothing was asked from here."""
    if not is_object(value):
        raise RpcError(INVALID_REQUEST, "a message is a JSON object")
    if "method" not in value and ("result" in value or "error" in value):
        return None
    method, params = value.get("method"), value.get("params", {})
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise RpcError(INVALID_REQUEST, 'a request has "jsonrpc": "2.0" and a "method"')
    if not is_object(params):
        raise RpcError(INVALID_REQUEST, '"params" is an object')
    if "id" not in value:
        return Notification(method, params)
    id_: Any = value["id"]
    if isinstance(id_, bool) or not isinstance(id_, str | int):
        raise RpcError(INVALID_REQUEST, '"id" is a string or an integer')
    return Request(id_, method, params)


def success(id: RequestId, result: JsonObject) -> JsonObject:
    """The answer to a request."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def failure(id: RequestId | None, error: RpcError) -> JsonObject:
    """An error as an answer; without an id, to something that had none that could be read."""
    told: JsonObject = {"code": error.code, "message": error.message}
    if error.data is not None:
        told["data"] = error.data
    return {"jsonrpc": "2.0", "id": id, "error": told}


def line(reply: JsonObject | list[JsonObject]) -> bytes:
    """What is written: JSON holds no line break."""
    return dumps(reply) + b"\n"
