"""Values that count as lost, and values that only moved."""

from partita.formats.losses import Loss
from partita.store.data_migrations.results import lost_values
from partita.types.json import Json
from tests.tables import each_row

CASES: dict[str, tuple[Json, Json, list[str]]] = {
    "the same": ({"text": "a"}, {"text": "a"}, []),
    "another place": ({"text": "a", "args": {"n": 17}}, {"x": [{"y": "a"}, 17]}, []),
    "a removed word": ({"text": "a", "more": "b"}, {"text": "a"}, ["b"]),
    "a removed number": ({"args": {"n": 17}}, {"args": {}}, ["17"]),
    "names of a format": ({"type": "tool-invocation", "state": "result"}, {"type": "tool-call"}, []),
    "JSON in a text": ({"text": '{"accepted":["yes"]}'}, {"accepted": ["yes"]}, []),
    "JSON in a text with a lost value": (
        {"text": '{"accepted":["yes","no"]}'},
        {"accepted": ["yes"]},
        ["no"],
    ),
    "bytes that became a URL": ({"data": "QUJD"}, {"url": "data:image/png;base64,QUJD"}, []),
    "a text that repeats the parts": (
        {"reasoning": "ab", "details": [{"text": "a"}, {"text": "b"}]},
        {"parts": [{"type": "reasoning", "text": "a"}, {"x": "-"}, {"type": "reasoning", "text": "b"}]},
        [],
    ),
    "a time in another notation": (
        {"createdAt": "2025-10-05T11:59:04.280Z"},
        {"at": "2025-10-05T11:59:04.28Z"},
        [],
    ),
    "another time": (
        {"createdAt": "2025-10-05T11:59:04Z"},
        {"at": "2025-10-05T11:59:05Z"},
        ["2025-10-05T11:59:04+00:00"],
    ),
    "plain text": ("hello", {"parts": [{"type": "text", "text": "hello"}]}, []),
    "truncated JSON is text": ('{"a":', {"parts": [{"value": '{"a":'}]}, []),
}


@each_row(("before", "after", "lost"), CASES.values(), ids=CASES)
def test_lost_values(before: Json, after: Json, lost: list[str]) -> None:
    assert lost_values(before, after) == lost


def test_a_reported_loss_is_not_lost() -> None:
    assert (
        lost_values({"revisionId": "r7"}, {}, [Loss.of("$.revisionId", "r7", "it only helps to draw")]) == []
    )
