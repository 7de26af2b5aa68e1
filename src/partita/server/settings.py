"""Settings and limits of the server."""

from dataclasses import dataclass, field
from typing import Final

from partita.runtime.budgets import Budgets
from partita.runtime.failures import OnError
from partita.runtime.session.session import LEASE
from partita.store.logs.maintenance import Retention
from partita.store.runs.turns import Busy
from partita.stream.targets import Target

MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a request may use. A request that exceeds a limit is refused and has no effect."""

    body_bytes: int = 32 * MEBIBYTE
    body_seconds: float = 30.0
    """Until a whole body must have arrived."""
    upload_bytes: int = 2048 * MEBIBYTE
    """Size of an import."""
    upload_seconds: float = 600.0
    blob_bytes: int = 256 * MEBIBYTE
    """Size of one blob: a database writes it as one value."""
    depth: int = 200
    """Nesting depth of JSON."""
    values: int = 2_000_000
    """Number of values in JSON: each takes far more memory than its bytes."""
    headers: int = 100
    header_bytes: int = 32 * 1024
    target_bytes: int = 16 * 1024
    requests_per_minute: int | None = None
    """For each key, or for each address where there are no keys; `None`: no limit."""
    stall_seconds: float = 120.0
    """How long a client may leave a stream unread before it is disconnected. Its run continues."""
    cpu_seconds: float = 10.0
    """CPU time of a request that converts, inspects, imports or shares. A worker process does that."""
    memory_bytes: int = 512 * MEBIBYTE
    """Memory of that process, in addition to what it has loaded."""
    expansion: int = 50
    """How many times larger than the body its content may become when it is unpacked or converted."""
    worker_processes: int | None = None
    """How many such processes run at once; `None`: as many as there are processors."""
    worker_queue: int = 16
    """How many requests may wait for one of them. Further requests are refused with 503."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings of an application. The defaults are for one user on one machine."""

    client: Target = field(default_factory=lambda: Target(7))
    """The assumed release of the AI SDK of clients that do not name theirs."""
    origins: tuple[str, ...] = ()
    """Other origins whose pages may use this server, such as `https://app.example`."""
    credentials: bool = False
    """Whether these pages may send cookies."""
    hosts: tuple[str, ...] = ()
    """Host names that the server responds to, in addition to those of this machine; also `*.example`."""
    trust_proxy: bool | tuple[str, ...] = False
    """Proxies whose `X-Forwarded-For` gives the address of the client: `True` for the one that connects, or
    the networks of several."""
    cwds: tuple[str, ...] = ()
    """Folders in which a request may let its agent work, including the folders below them."""
    client_system: bool = False
    """Whether callers with the role `chat` may send instructions for the agent (`system`)."""
    keep_alive: float = 15.0
    """Seconds of silence after which a stream sends a keep-alive comment."""
    busy: Busy = "refuse"
    """Whether a message that is sent while its thread has an active run is refused or queued."""
    lease: float = LEASE
    """Seconds for which a process leases its runs. After that, the runs of a process that died are ended."""
    seal_after: float | None = 60.0
    """Seconds after which the log of an ended run is rewritten as compressed blocks; `None`: never."""
    retention: Retention | None = None
    """The threads and logs that are kept; others are removed once a day. `None`: everything is kept."""
    on_error: OnError | None = None
    """Returns the error text that end users (role `chat`) see instead of an exception's own text."""
    limits: Limits = field(default_factory=Limits)
    budgets: Budgets | None = None
    """Limits of runs: steps, tokens, cost, and how many are active at once."""
