"""All formats by name: those of Partita, and those of other packages.

Another package adds a format through the entry point group `partita.formats`. If it cannot be loaded, the
other formats still work, and the error is raised when that format is looked up.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Final, Literal, NamedTuple, TypeAlias, assert_never, get_args

from partita.errors import FormatError
from partita.stream.state import Version

from .format import Dumped, Format

# Partita's formats, in the order of the documentation. A module is imported when its format is used.

CHAT: Final = "openai-chat"

CHAT_SERVERS: Final = ("deepseek", "groq", "mistral", "ollama", "openrouter", "vllm", "xai")
"""Servers with Chat Completions that have their own namespace in provider metadata."""

VERSIONS: Final[tuple[Version, ...]] = get_args(Version)


class LazyFormat(NamedTuple):
    """A format in a module of `partita.formats`, which is imported on first use."""

    name: str
    module: str
    attribute: str = "FORMAT"

    def load(self) -> Format:
        """Import the module and return the format."""
        found: Format = getattr(import_module(f"partita.formats.{self.module}"), self.attribute)
        return found


BUILTIN: Final = (
    LazyFormat("canonical", "canonical"),
    LazyFormat("legacy", "canonical", "LEGACY"),
    # AI SDK
    LazyFormat("ai-sdk-ui-v4", "ai_sdk.ui_v4.format"),
    *(LazyFormat(f"ai-sdk-ui-v{v}", "ai_sdk.ui.format", f"V{v}") for v in VERSIONS),
    *(LazyFormat(f"ai-sdk-model-v{v}", "ai_sdk.model.format", f"V{v}") for v in (4, *VERSIONS)),
    LazyFormat("ai-sdk-chunks", "canonical", "CHUNKS"),
    LazyFormat("ai-sdk-data-stream-v4", "ai_sdk.data_stream_v4"),
    *(LazyFormat(f"ai-sdk-full-stream-v{v}", "ai_sdk.full_stream", f"V{v}") for v in VERSIONS),
    # Mastra
    LazyFormat("mastra-v2", "mastra.format", "V2"),
    LazyFormat("mastra-v1", "mastra.format", "V1"),
    LazyFormat("mastra-stream", "mastra.stream"),
    # Rows of applications
    LazyFormat("cherry", "cherry.format"),
    LazyFormat("smithers", "smithers.format"),
    LazyFormat("plain", "rows", "PLAIN"),
    # APIs of models
    LazyFormat("anthropic", "anthropic.format"),
    LazyFormat("anthropic-response", "anthropic.format", "RESPONSE"),
    LazyFormat("bedrock-converse", "bedrock.format"),
    LazyFormat("bedrock-converse-response", "bedrock.format", "RESPONSE"),
    LazyFormat("cohere", "cohere.format"),
    LazyFormat("cohere-response", "cohere.format", "RESPONSE"),
    LazyFormat("gemini", "gemini.format"),
    LazyFormat("gemini-response", "gemini.format", "RESPONSE"),
    LazyFormat("openai-responses", "openai_responses.format"),
    LazyFormat("openai-responses-response", "openai_responses.format", "RESPONSE"),
    LazyFormat(CHAT, "openai_chat.format"),
    LazyFormat(f"{CHAT}-response", "openai_chat.format", "RESPONSE"),
    *(LazyFormat(f"{CHAT}-{one}", "openai_chat.format", one.upper()) for one in CHAT_SERVERS),
    # Frameworks
    LazyFormat("langchain", "langchain.format"),
    LazyFormat("langchain-v0", "langchain.format", "FORMAT_V0"),
    LazyFormat("pydantic-ai", "pydantic_ai.format"),
    LazyFormat("otel-genai", "otel.format"),
    LazyFormat("openai-agents", "openai_agents.format"),
    LazyFormat("ag-ui", "ag_ui.format"),
    # Agents, and protocols of agents
    LazyFormat("claude-code-log", "claude_code.format"),
    LazyFormat("claude-code-stream", "claude_code.format", "STREAM"),
    LazyFormat("codex-rollout", "codex.format"),
    LazyFormat("gemini-cli", "gemini_cli.chat"),
    LazyFormat("opencode-export", "opencode.session", "EXPORT"),
    LazyFormat("opencode-parts", "opencode.session", "PARTS"),
    LazyFormat("codex-exec", "codex.format", "EXEC"),
    LazyFormat("acp", "acp.decoder"),
    LazyFormat("mcp", "mcp.format"),
    LazyFormat("a2a", "a2a.format"),
    LazyFormat("gemini-cli-stream", "gemini_cli.stream"),
    # Exports
    LazyFormat("sharegpt", "exports.sharegpt"),
    LazyFormat("chatml", "exports.chatml"),
    LazyFormat("markdown", "exports.markdown"),
)


ENTRY_POINTS: Final = "partita.formats"

ALIASES: Mapping[str, str] = {
    "ui": "ai-sdk-ui-v7",
    "model": "ai-sdk-model-v7",
    "core": "ai-sdk-model-v4",
    "chunks": "ai-sdk-chunks",
    "message": "canonical",
    "claude-code": "claude-code-log",
    "codex": "codex-rollout",
}
"""Other names of formats."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A format of another package that cannot be used."""

    package: str
    value: str
    """The module and the attribute that the package names."""
    why: str


@dataclass(frozen=True, slots=True)
class Plugins:
    """The formats of other packages, and those that cannot be used, by name."""

    formats: Mapping[str, Format] = field(default_factory=dict[str, Format])
    broken: Mapping[str, Broken] = field(default_factory=dict[str, Broken])
    """By the name of the entry point."""


def read_plugins(taken: Iterable[str]) -> Plugins:
    """Load the formats of all installed packages. `taken`: names that they cannot have."""
    formats: dict[str, Format] = {}
    broken: dict[str, Broken] = {}
    known = set(taken)
    for entry in entry_points(group=ENTRY_POINTS):
        found = _load(entry)
        if isinstance(found, Format) and found.name not in known:
            known.add(found.name)
            formats[found.name] = found
        else:
            why = f"there is a format {found.name!r} already" if isinstance(found, Format) else found
            broken[entry.name] = Broken(entry.dist.name if entry.dist else entry.module, entry.value, why)
    return Plugins(formats, broken)


def _load(entry: EntryPoint) -> Format | str:
    """Return the format of an entry point, or the reason why it cannot be loaded."""
    try:
        found: object = entry.load()
    except Exception as error:  # the code of another package may raise anything
        return f"{type(error).__name__}: {error}"
    return found if isinstance(found, Format) else f"it is not a Format but {type(found).__name__}"


class _Formats(Mapping[str, Format]):
    """The formats by name. The module of a format is imported when the format is looked up."""

    def __init__(self, formats: Mapping[str, Format | LazyFormat]) -> None:
        self._formats = dict(formats)

    def __getitem__(self, name: str) -> Format:
        found = self._formats[name]
        if isinstance(found, LazyFormat):
            found = self._formats[name] = found.load()
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._formats

    def __iter__(self) -> Iterator[str]:
        return iter(self._formats)

    def __len__(self) -> int:
        return len(self._formats)


@cache
def all_formats() -> Mapping[str, Format]:
    """Return all formats by name: those of Partita, then those of other packages."""
    own = {format_.name: format_ for format_ in BUILTIN}
    return _Formats({**own, **read_plugins({*own, *ALIASES}).formats})


def broken_formats() -> Mapping[str, Broken]:
    """Return the formats of other packages that cannot be used, by the name of the entry point."""
    return read_plugins({*ALIASES, *(format_.name for format_ in BUILTIN)}).broken


def api_formats() -> Mapping[str, Format]:
    """Return the formats of other packages that have an HTTP API, by name."""
    own, known = {format_.name for format_ in BUILTIN}, all_formats()
    others = (known[name] for name in known if name not in own)
    return {one.name: one for one in others if one.http_api is not None}


Ability: TypeAlias = Literal["read", "written", "streamed"]
"""What a format can do: its messages or its streams can be read; messages can be written; its streams can be
read event by event."""

UNABLE: Final[Mapping[Ability, str]] = {
    "read": "can be written but not read",
    "written": "can be read but not written",
    "streamed": "is a format of messages, not of streams",
}


def can(format_: Format, ability: Ability) -> bool:
    """Whether a format can do that."""
    match ability:
        case "read":
            return format_.load is not None or format_.decoder is not None
        case "written":
            return format_.dump is not None
        case "streamed":
            return format_.decoder is not None
        case _:
            assert_never(ability)


def format_names(ability: Ability | None = None) -> list[str]:
    """Return the names of the formats that can do that, or of all, without aliases."""
    known = all_formats()
    return sorted(name for name in known if ability is None or can(known[name], ability))


def get_format(name: str, ability: Ability | None = None, *, where: str = "", hint: str = "") -> Format:
    """Return the format of a name or alias.

    With an ability, a format that lacks it is a `FormatError`, whose hint lists the formats that have it.
    """
    known = all_formats()
    full = ALIASES.get(name, name)
    if full not in known:
        if broken := broken_formats().get(name):
            raise FormatError(
                f"the format {name!r} cannot be used: {broken.why}",
                where=broken.value,
                hint=f"fix or uninstall the package {broken.package}",
            )
        usable = format_names(ability)
        aliases = [alias for alias, one in ALIASES.items() if one in usable]
        near = get_close_matches(name, [*usable, *aliases], n=1)
        start = f"did you mean {near[0]!r}? " if near else ""
        raise FormatError(
            f"no format {name!r}", where=where, hint=f"{start}there are {', '.join([*aliases, *usable])}"
        )
    if ability is not None and not can(known[full], ability):
        hint = hint or f"use one of {', '.join(format_names(ability))}"
        raise FormatError(f"{full} {UNABLE[ability]}", where=where, hint=hint)
    return known[full]


def get_dump(name: str, *, where: str = "", hint: str = "") -> Callable[..., Dumped]:
    """Return the function that writes a format; a `FormatError` if messages can only be read from it."""
    dump = get_format(name, "written", where=where, hint=hint).dump
    assert dump is not None, "it can be written"
    return dump
