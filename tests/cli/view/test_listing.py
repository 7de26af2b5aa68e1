"""Tables of threads."""

from datetime import UTC, timedelta

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from partita.cli.view.listing import UNLIMITED, draw_threads
from partita.cli.view.table import Column, fit_columns
from partita.store.threads.lists import ThreadSummary
from partita.types.json import JsonObject
from partita.types.threads import Thread
from tests.cli.rendering import render
from tests.cli.sample_threads import START
from tests.tables import each_row


def summary(
    id: str,
    title: str | None,
    agent: str,
    project: str | None,
    hours: int,
    *,
    count: int = 4,
    metadata: JsonObject | None = None,
    **fields: object,
) -> ThreadSummary:
    then = START - timedelta(hours=hours)
    thread = Thread(
        id=id,
        title=title,
        agent=agent,
        project=project,
        metadata=metadata,
        message_count=count,
        updated_at=then,
    )
    return ThreadSummary(thread=thread, title=thread.title, **fields)  # type: ignore[arg-type] # any other field of a summary


LONG = "Why does the build take nine minutes on the small machine"
CODING = {"models": ("opus-4", "haiku-4"), "input_tokens": 1_200_000, "output_tokens": 3000, "cost": 1234.5}
LIST = [
    summary("0198a3c2", "Fix the flaky clock test", "claude-code", "/home/ada/clock", 3, errors=2, **CODING),
    summary("0197ffe0", LONG, "codex", "/srv/build/tools/app", 30, count=1204, pinned=True, cost=0.001),
    summary("77aa", "時計のテスト\x1b[2J", "gemini-cli", None, 400, metadata={"clone": {"threadId": "t"}}),
    summary("88bb", None, "opencode", "D:\\oh-my-posh\\.claude\\analysis of it", 0),
]


def table(width: int, *, exact: bool = False) -> str:
    ids = {one.thread.id: one.thread.id for one in LIST}
    return render(draw_threads(LIST, ids, now=START, width=width, exact=exact, zone=UTC), width=width)


TABLES = {
    50: """\
id        title                msgs     last (UTC)
0198a3c2  Fix the flaky clo…      4  ✗  3 h ago
0197ffe0  Why does the buil…  1,204  ★  1 d ago
77aa      時計のテスト\\x1b[…      4  ⑂  2026-02-13
88bb      (no title)              4     just now
""",
    80: """\
id        title                    project        msgs       cost     last (UTC)
0198a3c2  Fix the flaky clock te…  …/ada/clock       4  $1,234.50  ✗  3 h ago
0197ffe0  Why does the build tak…  …/tools/app   1,204     <$0.01  ★  1 d ago
77aa      時計のテスト\\x1b[2J                        4             ⑂  2026-02-13
88bb      (no title)               …lysis of it      4                just now
""",
    140: """\
id        title                                                agent        model      project        msgs  tokens       cost     last (UTC)
0198a3c2  Fix the flaky clock test                             claude-code  opus-4 +1  …/ada/clock       4    1.2M  $1,234.50  ✗  3 h ago
0197ffe0  Why does the build take nine minutes on the small…   codex                   …/tools/app   1,204             <$0.01  ★  1 d ago
77aa      時計のテスト\\x1b[2J                                  gemini-cli                                4                     ⑂  2026-02-13
88bb      (no title)                                           opencode                …lysis of it      4                        just now
""",  # noqa: E501 # a wide table
}


@each_row(("width", "shown"), TABLES.items())
def test_table_fits_the_width(width: int, shown: str) -> None:
    assert table(width) == shown
    assert all(cell_len(line) <= width for line in shown.split("\n"))


def test_no_time_or_number_is_cut_beside_a_long_id() -> None:
    ids = {one.thread.id: one.thread.id for one in LIST} | {
        "0198a3c2": "258c7280-ae70-4798-800f-63464d01a85d"
    }
    shown = render(draw_threads(LIST, ids, now=START, width=60, sort="cost", zone=UTC), width=60)
    assert shown.splitlines()[:3] == [
        "id                                    title          cost",
        "258c7280-ae70-4798-800f-63464d01a85d  Fix the…  $1,234.50  ✗",
        "0197ffe0                              Why doe…     <$0.01  ★",
    ]


def test_exact_times_are_in_utc() -> None:
    assert "2026-03-02T11:02:11Z" in table(120, exact=True)
    assert "last (UTC)" in table(120, exact=True)


COLUMNS = st.lists(
    st.builds(
        lambda least, drop: Column(title="", least=least, drop=drop),
        st.none() | st.integers(1, 20),
        st.integers(0, 5),
    ),
    min_size=1,
    max_size=8,
)


@given(COLUMNS, st.data(), st.integers(20, 200))
def test_columns_fit_the_width_if_possible(columns: list[Column], data: st.DataObject, width: int) -> None:
    natural = data.draw(st.lists(st.integers(0, 60), min_size=len(columns), max_size=len(columns)))
    widths = fit_columns(columns, natural, width)
    for column, whole, each in zip(columns, natural, widths, strict=True):
        assert each == whole or (each < whole and (column.least is not None or (each == 0 and column.drop)))
        assert each or not whole or column.drop
    kept = [
        whole if column.least is None else 1
        for column, whole in zip(columns, natural, strict=True)
        if whole and not column.drop
    ]
    if sum(kept) + 2 * (len(kept) - 1) <= width:
        shown = [each for each in widths if each]
        assert sum(shown) + 2 * (len(shown) - 1) <= width


def test_nothing_is_cut_in_a_pipe() -> None:
    assert "on the small machine" in table(UNLIMITED)
    assert "D:\\oh-my-posh\\.claude\\analysis of it" in table(UNLIMITED)
