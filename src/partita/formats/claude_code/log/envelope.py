"""What stands around the content of a record: ids, parents, time, folder, version, usage.

It is kept whole, so that a record can be written again. The lines of one response say nearly the same, so the
first one's envelope is kept with the message, and of the others what they say besides. Names that begin with
`$` are ours: they tell what content and order were like, so that the same file can be written again.
"""

from typing import Final

from msgspec import UNSET, UnsetType

from partita.types.json import Json, JsonObject, is_array

AGENT: Final = "claudeCode"
"""Where everything that only Claude Code has is kept, in metadata of any kind."""

WITHOUT: Final = "without"
"""Names that the first record has and this one has not."""

LINE: Final = "$line"
"""The number of the record's line."""

STRING: Final = "$string"
"""The content was a string."""

CONTENT: Final = "$content"
"""The content, in a list, when the parts do not tell all of it; an empty list when there was none."""

SPLIT: Final = "$split"
"""How many parts came of each block, when they are not as many as the blocks."""

WITH: Final = "$with"
"""Which blocks of its record this is, when others of them are kept elsewhere."""

WHOLE: Final = "$whole"
"""There is no first record that says the rest."""

KIND: Final = "$kind"
"""What a user record was found to be, when it is no prompt."""

SOURCE: Final = "$from"
"""Where a sub-agent's record stands: `"inline"`, among those of the conversation, or in `"progress"`."""

SUBAGENT: Final = "$agent"
"""The sub-agent that progress told of."""

RECORD: Final = "claude-code-record"
"""The name of the data that holds a record of an answer whose blocks cannot carry it."""

MARKS: Final = frozenset({LINE, STRING, CONTENT, SPLIT, WITH, WHOLE, KIND, SOURCE, SUBAGENT})

_COMMON = frozenset(
    {
        "type",
        "uuid",
        "parentUuid",
        "logicalParentUuid",
        "sessionId",
        "session_id",
        "timestamp",
        "isSidechain",
        "agentId",
        "version",
        "cwd",
        "gitBranch",
        "userType",
        "entrypoint",
        "sessionKind",
        "slug",
        "teamName",
        "agentName",
        "isMeta",
        "forkedFrom",
        "requestId",
        "promptId",
        "message",
    }
    | MARKS
)

KNOWN: Final[dict[str, frozenset[str]]] = {
    "user": _COMMON
    | {
        "toolUseResult",
        "sourceToolAssistantUUID",
        "sourceToolUseID",
        "promptSource",
        "origin",
        "permissionMode",
        "isVisibleInTranscriptOnly",
        "isCompactSummary",
        "toolDenialKind",
        "interruptedMessageId",
        "imagePasteIds",
        "todos",
        "thinkingMetadata",
        "planContent",
        "classifierMetaLines",
        "mcpMeta",
    },
    "assistant": _COMMON
    | {
        "isApiErrorMessage",
        "error",
        "apiErrorStatus",
        "effort",
        "attributionSkill",
        "attributionMcpServer",
        "attributionMcpTool",
        "attributionPlugin",
    },
}
"""The fields of talk that are understood, or known to mean nothing to a reader."""


STABLE: Final = ("sessionId", "cwd", "version", "gitBranch", "userType", "isSidechain", "entrypoint", "slug")
"""Names that nearly all records of a session have alike."""

_ABSENT: Final = object()


def keep_content(record: JsonObject, content: Json | UnsetType) -> None:
    """Keep a content that parts do not tell."""
    record[CONTENT] = [] if content is UNSET else [content]


def difference(base: JsonObject, record: JsonObject) -> JsonObject:
    """What a record says otherwise than the first one of its response. The record itself is used up."""
    get, other = record.get, base.get
    for name in STABLE:
        if get(name, _ABSENT) != other(name, _ABSENT):
            return _whole_difference(base, record)
    for name in STABLE:
        record.pop(name, None)
    if record.get("message") == base.get("message"):
        record.pop("message", None)
    return record


def _whole_difference(base: JsonObject, record: JsonObject) -> JsonObject:
    """The names of a record that differ, and those of the stable ones that it has not."""
    inherited = (*STABLE, "message")
    changed = {
        name: value
        for name, value in record.items()
        if name not in inherited or base.get(name, _ABSENT) != value
    }
    gone = [name for name in inherited if name in base and name not in record]
    if gone:
        changed[WITHOUT] = gone
    return changed


def restored(base: JsonObject, changed: JsonObject) -> JsonObject:
    """The record whose difference to `base` is known."""
    told = changed.get(WITHOUT)
    gone: list[Json] = told if is_array(told) else []
    record: JsonObject = {
        name: base[name]
        for name in (*STABLE, "message")
        if name in base and name not in changed and name not in gone
    }
    record |= changed
    record.pop(WITHOUT, None)
    return record
