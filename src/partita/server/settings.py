"""How the server behaves."""

from dataclasses import dataclass, field
from typing import Final

from partita.runtime.budgets import Budgets
from partita.runtime.failures import OnError
from partita.runtime.session.session import LEASE
from partita.store.turns import Busy
from partita.stream.targets import Target

MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a request may take. Beyond it is refused, and nothing has happened."""

    body_bytes: int = 32 * MEBIBYTE
    body_seconds: float = 30.0
    """Until all of a body must be there."""
    upload_bytes: int = 2048 * MEBIBYTE
    """Of what is imported."""
    upload_seconds: float = 600.0
    blob_bytes: int = 256 * MEBIBYTE
    """Of one blob: a database writes it as one value."""
    depth: int = 200
    """How deep JSON may be nested."""
    values: int = 2_000_000
    """How many values JSON may have: each takes far more memory than its bytes."""
    headers: int = 100
    header_bytes: int = 32 * 1024
    target_bytes: int = 16 * 1024
    requests_per_minute: int | None = None
    """Of one key, or of one address where there are no keys; `None`: as many as they like."""
    stall_seconds: float = 120.0
    """How long a client may leave a stream unread before it is cut off. Its run goes on."""
    cpu_seconds: float = 10.0
    """CPU time to convert, inspect, import or share for one request. A process of its own does it."""
    memory_bytes: int = 512 * MEBIBYTE
    """Memory of that process, on top of what it has loaded."""
    expansion: int = 50
    """How many times as large as the body its content may become: unpacked, or converted."""
    worker_processes: int | None = None
    """How many such processes work at once; `None`: as many as there are processors."""
    worker_queue: int = 16
    """How many requests may wait for one of them; further ones are refused with 503."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What may be chosen. The defaults are for one person at one machine."""

    client: Target = field(default_factory=lambda: Target(7))
    """The release of the AI SDK that clients are taken for when they do not say."""
    origins: tuple[str, ...] = ()
    """Origins of other sites whose pages may use this server, such as `https://app.example`."""
    credentials: bool = False
    """Whether these pages may send cookies."""
    hosts: tuple[str, ...] = ()
    """Names under which the server may be asked for, besides those of this machine; `*.example` too."""
    trust_proxy: bool | tuple[str, ...] = False
    """Proxies whose `X-Forwarded-For` gives the address of the client: `True` for the one that connects, or
    the networks of several. Others are not believed."""
    cwds: tuple[str, ...] = ()
    """Folders in which a request may let its agent work, and in those below them; none unless listed."""
    client_system: bool = False
    """Whether callers with the role `chat` may send instructions for the agent (`system`)."""
    keep_alive: float = 15.0
    """After so many seconds of silence, a client is told that its stream is alive."""
    busy: Busy = "refuse"
    """What becomes of a message that is sent while its thread has a run at work."""
    lease: float = LEASE
    """For how many seconds a process holds its runs. After that, those of one that died are ended."""
    seal_after: float | None = 60.0
    """After how many seconds the log of an ended run is rewritten as compressed blocks; `None`: never."""
    on_error: OnError | None = None
    """Chooses the error text that end users, role `chat`, see instead of an exception's own text."""
    limits: Limits = field(default_factory=Limits)
    budgets: Budgets | None = None
    """What runs may use: steps, tokens, money, and how many may run at once."""
