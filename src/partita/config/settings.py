"""Every setting: one table, from which reading, checking, `partita config` and its page come."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["text", "place", "number", "seconds", "switch", "texts", "folders"]
"""What a value is. A place is a store: the path of a file, or a URL."""

Value: TypeAlias = str | int | float | bool | tuple[str, ...] | None

MOST_PORTS: Final = 65535


class Setting(NamedTuple):
    """Something that can be set."""

    key: str
    """How files name it: `serve.port` is `port` under `[serve]`."""
    environment: str
    """The variable that sets it."""
    kind: Kind
    meaning: str
    default: Value = None
    unset: str = ""
    """What holds without it, in words, where the default is no value."""
    least: int | None = None
    most: int | None = None
    options: tuple[str, ...] = ()
    """Whose default it is: `serve.port` is the parameter `port` of `partita serve`."""
    guarded: str = ""
    """Why a project's file sets it only if the user trusts the file; empty where any file may."""
    own: bool = False
    """Whether a project's file may not set it at all."""


SETTINGS: Final = (
    Setting(
        key="store",
        environment="PARTITA_STORE",
        kind="place",
        meaning="Where everything is kept: the path of a file, or a URL.",
        unset="a file in your data folder",
        guarded="it chooses where your sessions are stored and read",
    ),
    Setting(
        key="pager",
        environment="PARTITA_PAGER",
        kind="switch",
        default=True,
        meaning="Stop after each page of what is long, on a terminal.",
        options=("show.pager", "diff.pager"),
    ),
    Setting(
        key="trusted",
        environment="PARTITA_TRUSTED",
        kind="folders",
        default=(),
        meaning="Folders whose `partita.toml` may decide everything.",
        own=True,
    ),
    Setting(
        key="serve.host",
        environment="PARTITA_HOST",
        kind="text",
        default="127.0.0.1",
        meaning="Where the server listens.",
        options=("serve.host",),
        guarded="it decides who can reach the server",
    ),
    Setting(
        key="serve.port",
        environment="PARTITA_PORT",
        kind="number",
        default=7272,
        least=0,
        most=MOST_PORTS,
        meaning="Its port; 0 is any.",
        options=("serve.port",),
    ),
    Setting(
        key="serve.agents",
        environment="PARTITA_SERVE_AGENTS",
        kind="texts",
        default=(),
        unset="all that are known",
        meaning="Who answers, as `--agent` names them.",
        options=("serve.names",),
        guarded="it runs code",
    ),
    Setting(
        key="serve.keys",
        environment="PARTITA_SERVE_KEYS",
        kind="switch",
        default=False,
        meaning="Only those may ask who have a key.",
        options=("serve.keys",),
        guarded="it decides who can reach the server",
    ),
    Setting(
        key="serve.token",
        environment="PARTITA_SERVE_TOKEN",
        kind="switch",
        default=True,
        meaning="Without keys, serve only who has the token of the printed address.",
        options=("serve.token",),
        guarded="it decides who can reach the server",
    ),
    Setting(
        key="serve.origins",
        environment="PARTITA_SERVE_ORIGINS",
        kind="texts",
        default=(),
        meaning="Sites whose pages may ask.",
        options=("serve.origins",),
        guarded="it decides who can reach the server",
    ),
    Setting(
        key="serve.allow_hosts",
        environment="PARTITA_SERVE_ALLOW_HOSTS",
        kind="texts",
        default=(),
        meaning="Names that the server may have.",
        options=("serve.hosts",),
        guarded="it decides who can reach the server",
    ),
    Setting(
        key="serve.cwds",
        environment="PARTITA_SERVE_CWDS",
        kind="folders",
        default=(),
        meaning="Folders in which clients may let an agent work, and in those below them.",
        options=("serve.cwds",),
        guarded="it decides where agents may work",
    ),
    Setting(
        key="serve.client",
        environment="PARTITA_SERVE_CLIENT",
        kind="text",
        default="7",
        meaning="The version of the AI SDK that clients have.",
        options=("serve.client",),
    ),
    Setting(
        key="serve.import",
        environment="PARTITA_SERVE_IMPORT",
        kind="switch",
        default=True,
        meaning="Bring in the sessions of agents on this machine, and follow them.",
        options=("serve.imports",),
        guarded="it decides which of your sessions are imported",
    ),
    Setting(
        key="serve.demo",
        environment="PARTITA_SERVE_DEMO",
        kind="switch",
        default=True,
        meaning="Put examples into an empty store.",
        options=("serve.demo",),
    ),
    Setting(
        key="serve.log_format",
        environment="PARTITA_LOG_FORMAT",
        kind="text",
        default="text",
        meaning="How the server writes log lines: `text` or `json`.",
        options=("serve.log_format",),
    ),
    Setting(
        key="serve.log_level",
        environment="PARTITA_LOG_LEVEL",
        kind="text",
        default="warning",
        meaning="The least important log lines it writes: `debug`, `info`, `warning` or `error`.",
        options=("serve.log_level",),
    ),
    Setting(
        key="serve.open",
        environment="PARTITA_SERVE_OPEN",
        kind="switch",
        unset="only `partita` alone does",
        meaning="Open the browser.",
        options=("serve.opens",),
    ),
    Setting(
        key="serve.cpu_seconds",
        environment="PARTITA_SERVE_CPU_SECONDS",
        kind="seconds",
        default=10.0,
        least=0,
        meaning="CPU time for one request that converts, inspects, imports or shares.",
        options=("serve.cpu_seconds",),
    ),
    Setting(
        key="serve.memory_mb",
        environment="PARTITA_SERVE_MEMORY_MB",
        kind="number",
        default=512,
        least=16,
        meaning="Memory for such a request, in megabytes.",
        options=("serve.memory_mb",),
    ),
    Setting(
        key="serve.expansion",
        environment="PARTITA_SERVE_EXPANSION",
        kind="number",
        default=50,
        least=1,
        meaning="How many times as large as its body the content of a request may become.",
        options=("serve.expansion",),
    ),
    Setting(
        key="import.agents",
        environment="PARTITA_IMPORT_AGENTS",
        kind="texts",
        default=(),
        unset="all",
        meaning="Whose sessions `import` and `watch` bring in.",
        options=("import.agents", "watch.agents"),
        guarded="it decides which of your sessions are imported",
    ),
    Setting(
        key="import.resource",
        environment="PARTITA_IMPORT_RESOURCE",
        kind="text",
        unset="nobody in particular",
        meaning="Whose the threads become that `import`, `watch` and `hook` bring in.",
        options=("import.resource", "watch.resource"),
        guarded="it decides who owns imported sessions",
    ),
    Setting(
        key="import.workers",
        environment="PARTITA_IMPORT_WORKERS",
        kind="number",
        least=1,
        unset="as many as there are cores",
        meaning="How many processes read.",
        options=("import.workers",),
    ),
    Setting(
        key="watch.poll",
        environment="PARTITA_WATCH_POLL",
        kind="switch",
        default=False,
        meaning="Look at the files again and again; do not wait for events.",
        options=("watch.poll",),
    ),
    Setting(
        key="replay.longest_pause",
        environment="PARTITA_REPLAY_LONGEST_PAUSE",
        kind="seconds",
        default=2.0,
        least=0,
        meaning="No pause of a replay is longer, in seconds.",
        options=("replay.longest_pause",),
    ),
)

BY_KEY: Final[Mapping[str, Setting]] = {setting.key: setting for setting in SETTINGS}

BY_OPTION: Final[Mapping[str, Setting]] = {
    option: setting for setting in SETTINGS for option in setting.options
}

VARIABLES: Final[Mapping[str, str]] = {
    "PARTITA_CONFIG": "The file to read in the place of your own `partita.toml`.",
    "PARTITA_PAGE": "A folder with another build of the page.",
    "PARTITA_REDACT_LIMIT": "How many characters are searched for secrets at once; 128000000 unless set.",
    "PARTITA_TRACEBACK": "Set to 1: errors come with a traceback.",
}
"""Variables of the environment that no file can set."""
