"""Who runs a call without an output: its agent, or the client. Both are noted in metadata."""

from typing import Final

from partita.types.json import Json, JsonObject, is_array, is_object

from .core.sidecar import KEY

SERVER_CALLS: Final = "serverCalls"
"""Where the metadata of a message names calls without an output that its agent itself will run."""

NETWORK_PATH: Final = "networkPath"
"""In our provider metadata of a call: the ids of the calls that lead to the original."""


def server_calls(metadata: Json) -> frozenset[str]:
    """The ids of calls without an output that the agent itself will run, by the metadata of its message."""
    ids: Json = metadata.get(SERVER_CALLS) if is_object(metadata) else None
    return frozenset(str(id_) for id_ in ids) if is_array(ids) else frozenset()


def network_path(metadata: JsonObject | None) -> tuple[str, ...]:
    """The path to the original of a call that a network repeats for its client; empty for any other call."""
    own: Json = (metadata or {}).get(KEY)
    path: Json = own.get(NETWORK_PATH) if is_object(own) else None
    return tuple(str(step) for step in path) if is_array(path) else ()
