"""The table of settings, which reading, checking, `partita config` and the documentation use."""

from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

Kind: TypeAlias = Literal["text", "store", "number", "seconds", "switch", "texts", "folders", "prices"]
"""The type of a value. A store is the path of a file or a URL."""

LISTS: Final[frozenset[Kind]] = frozenset({"texts", "folders", "prices"})
"""The types whose values are lists of strings."""

Value: TypeAlias = str | int | float | bool | tuple[str, ...] | None

MAX_PORT: Final = 65535


class Setting(NamedTuple):
    """A setting."""

    key: str
    """The key in files: `serve.port` is `port` under `[serve]`."""
    environment: str
    """The environment variable."""
    kind: Kind
    meaning: str
    default: Value = None
    default_text: str = ""
    """A description of the default, if there is no default value."""
    given_example: str = ""
    """A value as it is written in a file, if the default is not an example of one."""
    choices: tuple[str, ...] = ()
    """The possible values, if there are few."""
    minimum: int | None = None
    maximum: int | None = None
    options: tuple[str, ...] = ()
    """The command options that have it as their default: `serve.port` is `port` of `partita serve`."""
    trust_reason: str = ""
    """Why a project's file must be trusted to set it; empty if it need not be."""
    user_only: bool = False
    """Whether only the user's file can set it."""

    @property
    def name(self) -> str:
        """The key in its section."""
        return self.key.rpartition(".")[2]

    @property
    def example(self) -> str:
        """A value as it is written in a file: the default if there is one."""
        if self.given_example:
            return self.given_example
        return f'"{self.default}"' if isinstance(self.default, str) else str(self.default).lower()


SETTINGS: Final = (
    Setting(
        key="store",
        environment="PARTITA_STORE",
        kind="store",
        given_example='"messages.db"',
        meaning="The store: the path of a file, or a URL.",
        default_text="a file in your data folder",
        trust_reason="it chooses where your sessions are stored and read",
    ),
    Setting(
        key="pager",
        environment="PARTITA_PAGER",
        kind="switch",
        default=True,
        meaning="Show long output in a pager on a terminal.",
        options=("show.pager", "diff.pager"),
    ),
    Setting(
        key="prices",
        environment="PARTITA_PRICES",
        kind="prices",
        default=(),
        given_example='["my-model 0.5 2"]',
        meaning="Own prices of models: US dollars per million tokens of input, output and cached input.",
        trust_reason="it decides which costs are recorded",
    ),
    Setting(
        key="trusted",
        environment="PARTITA_TRUSTED",
        kind="folders",
        default=(),
        given_example='["~/work"]',
        meaning="Folders whose `partita.toml` is trusted.",
        user_only=True,
    ),
    Setting(
        key="serve.host",
        environment="PARTITA_HOST",
        kind="text",
        default="127.0.0.1",
        meaning="The address that the server listens on. Use `0.0.0.0` for all interfaces.",
        options=("serve.host",),
        trust_reason="it decides who can reach the server",
    ),
    Setting(
        key="serve.port",
        environment="PARTITA_PORT",
        kind="number",
        default=7272,
        minimum=0,
        maximum=MAX_PORT,
        meaning="The port of the server. 0 selects a free port.",
        options=("serve.port",),
    ),
    Setting(
        key="serve.agents",
        environment="PARTITA_SERVE_AGENTS",
        kind="texts",
        default=(),
        default_text="all available agents",
        given_example='["claude-code", "anthropic:claude-sonnet-4-5"]',
        meaning="The agents that are served, as `--agent` names them.",
        options=("serve.names",),
        trust_reason="it runs code",
    ),
    Setting(
        key="serve.keys",
        environment="PARTITA_SERVE_KEYS",
        kind="switch",
        default=False,
        meaning="Require an API key.",
        options=("serve.keys",),
        trust_reason="it decides who can reach the server",
    ),
    Setting(
        key="serve.token",
        environment="PARTITA_SERVE_TOKEN",
        kind="switch",
        default=True,
        meaning="Without API keys, require the token in the printed address.",
        options=("serve.token",),
        trust_reason="it decides who can reach the server",
    ),
    Setting(
        key="serve.origins",
        environment="PARTITA_SERVE_ORIGINS",
        kind="texts",
        default=(),
        given_example='["https://chat.example.com"]',
        meaning="Origins of other sites that may call the server.",
        options=("serve.origins",),
        trust_reason="it decides who can reach the server",
    ),
    Setting(
        key="serve.allow_hosts",
        environment="PARTITA_SERVE_ALLOW_HOSTS",
        kind="texts",
        default=(),
        given_example='["chat.example.com"]',
        meaning="Additional host names that the server accepts.",
        options=("serve.hosts",),
        trust_reason="it decides who can reach the server",
    ),
    Setting(
        key="serve.cwds",
        environment="PARTITA_SERVE_CWDS",
        kind="folders",
        default=(),
        given_example='["~/work"]',
        meaning="Folders in which clients may run an agent, including subfolders.",
        options=("serve.cwds",),
        trust_reason="it decides where agents may work",
    ),
    Setting(
        key="serve.client",
        environment="PARTITA_SERVE_CLIENT",
        kind="text",
        default="7",
        meaning="The AI SDK version of the clients.",
        options=("serve.client",),
    ),
    Setting(
        key="serve.import",
        environment="PARTITA_SERVE_IMPORT",
        kind="switch",
        default=True,
        meaning="Import the sessions of coding agents on this machine, and follow them.",
        options=("serve.imports",),
        trust_reason="it decides which of your sessions are imported",
    ),
    Setting(
        key="serve.demo",
        environment="PARTITA_SERVE_DEMO",
        kind="switch",
        default=True,
        meaning="Add demo data to an empty store.",
        options=("serve.demo",),
    ),
    Setting(
        key="serve.log_format",
        environment="PARTITA_LOG_FORMAT",
        kind="text",
        default="text",
        choices=("text", "json"),
        meaning="The format of log lines: `text` or `json`.",
        options=("serve.log_format",),
    ),
    Setting(
        key="serve.log_level",
        environment="PARTITA_LOG_LEVEL",
        kind="text",
        default="warning",
        choices=("debug", "info", "warning", "error"),
        meaning="The lowest level of log lines: `debug`, `info`, `warning` or `error`.",
        options=("serve.log_level",),
    ),
    Setting(
        key="serve.open",
        environment="PARTITA_SERVE_OPEN",
        kind="switch",
        default_text="off except for `partita`",
        given_example="true",
        meaning="Open the browser.",
        options=("serve.opens",),
    ),
    Setting(
        key="serve.cpu_seconds",
        environment="PARTITA_SERVE_CPU_SECONDS",
        kind="seconds",
        default=10.0,
        minimum=0,
        meaning="CPU seconds for a request that converts, inspects, imports or shares.",
        options=("serve.cpu_seconds",),
    ),
    Setting(
        key="serve.memory_mb",
        environment="PARTITA_SERVE_MEMORY_MB",
        kind="number",
        default=512,
        minimum=16,
        meaning="Memory limit in megabytes for such a request.",
        options=("serve.memory_mb",),
    ),
    Setting(
        key="serve.expansion",
        environment="PARTITA_SERVE_EXPANSION",
        kind="number",
        default=50,
        minimum=1,
        meaning="Limit for the size of decompressed content, as a multiple of the request body.",
        options=("serve.expansion",),
    ),
    Setting(
        key="import.agents",
        environment="PARTITA_IMPORT_AGENTS",
        kind="texts",
        default=(),
        default_text="all",
        given_example='["claude-code", "codex"]',
        meaning="The agents whose sessions `import`, `watch` and `serve` import.",
        options=("import.agents", "watch.agents"),
        trust_reason="it decides which of your sessions are imported",
    ),
    Setting(
        key="import.folders",
        environment="PARTITA_IMPORT_FOLDERS",
        kind="folders",
        default=(),
        given_example='["~/old-sessions"]',
        meaning="Additional folders with sessions that `import`, `watch` and `serve` search.",
        trust_reason="it decides which of your sessions are imported",
    ),
    Setting(
        key="import.resource",
        environment="PARTITA_IMPORT_RESOURCE",
        kind="text",
        default_text="no owner",
        given_example='"ada"',
        meaning="The owner of the threads that `import`, `watch` and `hook` import.",
        options=("import.resource", "watch.resource"),
        trust_reason="it decides who owns imported sessions",
    ),
    Setting(
        key="import.workers",
        environment="PARTITA_IMPORT_WORKERS",
        kind="number",
        minimum=1,
        default_text="the number of CPU cores",
        given_example="4",
        meaning="The number of processes that read logs.",
        options=("import.workers",),
    ),
    Setting(
        key="export.secrets",
        environment="PARTITA_EXPORT_SECRETS",
        kind="texts",
        default=(),
        given_example='["email", "home"]',
        meaning="More kinds of secrets to replace in exports and shared files, besides keys and passwords.",
    ),
    Setting(
        key="export.replace",
        environment="PARTITA_EXPORT_REPLACE",
        kind="texts",
        default=(),
        given_example='["Ada Lovelace", "/CUST-[0-9]+/"]',
        meaning="Other texts to replace there. A pattern is between slashes.",
    ),
    Setting(
        key="retention.threads",
        environment="PARTITA_RETENTION_THREADS",
        kind="text",
        default_text="forever",
        given_example='"365d"',
        meaning="How long threads are kept after their last message: `365d`, `52w`. Pinned ones stay.",
        options=("retention.threads",),
        trust_reason="it deletes threads",
    ),
    Setting(
        key="retention.logs",
        environment="PARTITA_RETENTION_LOGS",
        kind="text",
        default_text="forever",
        given_example='"90d"',
        meaning="How long the raw logs of runs are kept after their end: `90d`. Messages stay.",
        options=("retention.logs",),
        trust_reason="it deletes the logs of runs",
    ),
    Setting(
        key="retention.logs_mb",
        environment="PARTITA_RETENTION_LOGS_MB",
        kind="number",
        minimum=0,
        default_text="no limit",
        given_example="2000",
        meaning="How many megabytes all raw logs may have. The oldest are removed first.",
        options=("retention.logs_mb",),
        trust_reason="it deletes the logs of runs",
    ),
    Setting(
        key="watch.poll",
        environment="PARTITA_WATCH_POLL",
        kind="switch",
        default=False,
        meaning="Poll the files instead of waiting for file system events.",
        options=("watch.poll",),
    ),
    Setting(
        key="replay.longest_pause",
        environment="PARTITA_REPLAY_LONGEST_PAUSE",
        kind="seconds",
        default=2.0,
        minimum=0,
        meaning="The longest pause of a replay, in seconds.",
        options=("replay.longest_pause",),
    ),
)

BY_KEY: Final[Mapping[str, Setting]] = {setting.key: setting for setting in SETTINGS}

BY_OPTION: Final[Mapping[str, Setting]] = {
    option: setting for setting in SETTINGS for option in setting.options
}

VARIABLES: Final[Mapping[str, str]] = {
    "PARTITA_CONFIG": "A file to read instead of your user `partita.toml`.",
    "PARTITA_PAGE": "A folder with another build of the web UI.",
    "PARTITA_REDACT_LIMIT": "How many characters are searched for secrets at once. Default: 128000000.",
    "PARTITA_TRACEBACK": "Set it to 1 to print errors with a traceback.",
}
"""Environment variables that cannot be set in files."""
