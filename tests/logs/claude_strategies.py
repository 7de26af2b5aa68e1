"""Strategies for records of session files, with expected and arbitrary fields."""

from typing import TypeAlias

from hypothesis import strategies as st

from partita.formats.claude_code.wire import METADATA, SYSTEM
from partita.types.json import Json, JsonObject
from tests.strategies_json import json_values

from .claude_session import task, text, thinking, use

Values: TypeAlias = st.SearchStrategy[Json]


def some(*values: Json) -> Values:
    """One of these, or anything."""
    return st.one_of(st.sampled_from(values), json_values())


def objects(**fields: Values) -> Values:
    """Objects with some of these fields."""
    return st.fixed_dictionaries({}, optional=fields)


IDS = some("i1", "i2", "i3", "i4")

RESULTS = objects(
    type=st.just("tool_result"),
    tool_use_id=some("c1", "c2", "t1", "gone"),
    content=json_values(),
    is_error=some(True, False),
)
BLOCKS = st.one_of(
    some(text("a"), thinking("b"), use("c1"), use("c2"), task("t1", "look"), text("c", citations=[1])),
    RESULTS,
)
CONTENTS: Values = st.one_of(st.lists(BLOCKS, max_size=3), json_values())

MESSAGES = st.one_of(
    objects(
        id=IDS,
        role=json_values(),
        model=some("m", "<synthetic>"),
        content=CONTENTS,
        usage=st.one_of(objects(output_tokens=json_values()), json_values()),
        stop_reason=json_values(),
    ),
    json_values(),
)
STRUCTURED = some(
    {"agentId": "a1"},
    {"agentId": "a2"},
    {"query": "q", "results": [{"content": [{"url": "u"}]}, 3]},
    {"url": "u", "codeText": 1},
)


def records(type: Values, **own: Values) -> Values:
    """Records with some of the fields that all have, and some of their own."""
    return objects(
        type=type,
        uuid=IDS,
        parentUuid=IDS,
        logicalParentUuid=IDS,
        timestamp=some("2026-04-01T08:00:00.000Z", "never"),
        sessionId=json_values(),
        isSidechain=some(True, False),
        agentId=some("a1", "a2", None),
        cwd=json_values(),
        **own,
    )


ANY: Values = st.one_of(
    records(st.just("assistant"), message=MESSAGES, requestId=IDS, isApiErrorMessage=json_values()),
    records(
        st.just("user"),
        message=MESSAGES,
        toolUseResult=STRUCTURED,
        isMeta=json_values(),
        isCompactSummary=json_values(),
        origin=json_values(),
        toolDenialKind=json_values(),
    ),
    records(st.just("system"), subtype=some(*sorted(SYSTEM)), content=json_values()),
    records(st.just("attachment"), attachment=objects(type=some("queued_command"), prompt=CONTENTS)),
    records(
        st.just("progress"),
        parentToolUseID=some("c1", "t1"),
        data=objects(
            type=some("agent_progress", "bash_progress"),
            agentId=IDS,
            message=records(st.just("user"), message=MESSAGES),
        ),
    ),
    records(
        st.sampled_from(sorted(METADATA)),
        summary=json_values(),
        customTitle=json_values(),
        aiTitle=json_values(),
        leafUuid=IDS,
    ),
    records(json_values()),
)


@st.composite
def any_record(draw: st.DrawFn) -> JsonObject:
    """A record of any kind. (A function, so that a failure does not print the whole strategy.)"""
    record: JsonObject = draw(ANY)
    return record
