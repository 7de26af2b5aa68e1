"""The versions of the protocol, and what each of them has.

Up to 2025-11-25 a connection begins with a handshake. From 2026-07-28 on there is none: every request says in
its `_meta` which version it speaks.
"""

from typing import Final, NamedTuple

from partita.types.json import Json, JsonObject, is_object

from .rpc import INVALID_PARAMS, NO_VERSION, RpcError

HANDSHAKE: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
STATELESS: Final = ("2026-07-28",)

VERSION: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
SERVER: Final = "io.modelcontextprotocol/serverInfo"


class Dialect(NamedTuple):
    """What may be said in a version."""

    version: str

    @property
    def stateless(self) -> bool:
        """Whether requests speak for themselves."""
        return self.version in STATELESS

    @property
    def batches(self) -> bool:
        """Whether a line may hold several messages: one version had that."""
        return self.version == "2025-03-26"

    @property
    def annotated(self) -> bool:
        """Whether tools say what they do to the world."""
        return self.version != "2024-11-05"

    @property
    def structured(self) -> bool:
        """Whether tools have titles, and answer with data besides text."""
        return self.version not in HANDSHAKE[:2]


def offered(asked: Json) -> Dialect:
    """The dialect of a handshake: what the client asks for, or else the newest there is."""
    return Dialect(asked if asked in HANDSHAKE else HANDSHAKE[-1])


def dialect_of(params: JsonObject, agreed: Dialect) -> Dialect:
    """The dialect of a request: its own, if it names one, or what was agreed on."""
    meta = params.get("_meta")
    if not is_object(meta) or not {VERSION, CAPABILITIES} & meta.keys():
        return agreed
    for name in (VERSION, CAPABILITIES):
        if name not in meta:
            raise RpcError(INVALID_PARAMS, f"_meta has no {name}")
    version = meta[VERSION]
    if not isinstance(version, str):
        raise RpcError(INVALID_PARAMS, f"{VERSION} is a string")
    if version not in STATELESS:
        raise RpcError(
            NO_VERSION,
            f"no version {version!r} without a handshake",
            {"supported": list(STATELESS), "requested": version},
        )
    return Dialect(version)
