"""Tables of threads."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from partita.cli.view.listing import TITLE, UNLIMITED, draw_threads, fit_columns
from partita.types.threads import Thread
from tests.cli.rendering import render
from tests.cli.sample_threads import START
from tests.tables import each_row


def thread(id: str, title: str | None, agent: str, project: str | None, hours: int, count: int = 4) -> Thread:
    then = START - timedelta(hours=hours)
    return Thread(id=id, title=title, agent=agent, project=project, message_count=count, updated_at=then)


LONG = "Why does the build take nine minutes on the small machine"
LIST = [
    thread("0198a3c2", "Fix the flaky clock test", "claude-code", "/home/ada/clock", 3),
    thread("0197ffe0", LONG, "codex", "/srv/build/tools/app", 30, 1204),
    thread("77aa", "時計のテスト\x1b[2J", "gemini-cli", None, 400),
    thread("88bb", None, "opencode", "/home/ada/a/very/long/way/to/the/project", 0),
]


def table(width: int, *, exact: bool = False) -> str:
    ids = {one.id: one.id for one in LIST}
    threads = draw_threads(LIST, ids, failed={"0198a3c2"}, now=START, width=width, exact=exact)
    return render(threads, width=width)


TABLES = {
    80: """\
id        title                  agent        project        msgs     last
0198a3c2  Fix the flaky clock …  claude-code  …/ada/clock       4  ✗  3 h ago
0197ffe0  Why does the build t…  codex        …/tools/app   1,204     1 d ago
77aa      時計のテスト\\x1b[2J    gemini-cli                     4     2026-02-13
88bb      (no title)             opencode     …/project         4     just now
""",
    50: """\
id        title                msgs     last
0198a3c2  Fix the flaky clo…      4  ✗  3 h ago
0197ffe0  Why does the buil…  1,204     1 d ago
77aa      時計のテスト\\x1b[…      4     2026-02-13
88bb      (no title)              4     just now
""",
    140: """\
id        title                                                      agent        project                msgs     last
0198a3c2  Fix the flaky clock test                                   claude-code  /home/ada/clock           4  ✗  3 h ago
0197ffe0  Why does the build take nine minutes on the small machine  codex        /srv/build/tools/app  1,204     1 d ago
77aa      時計のテスト\\x1b[2J                                        gemini-cli                             4     2026-02-13
88bb      (no title)                                                 opencode     …/way/to/the/project      4     just now
""",  # noqa: E501 # a wide table
}


@each_row(("width", "shown"), TABLES.items())
def test_table_fits_the_width(width: int, shown: str) -> None:
    assert table(width) == shown
    assert all(cell_len(line) <= width for line in shown.split("\n"))


def test_exact_times_are_in_utc() -> None:
    assert "2026-03-02T11:02:11Z" in table(120, exact=True)


WIDTHS = st.tuples(*[st.integers(0, 60)] * 7).filter(lambda widths: widths[0] > 0 and widths[TITLE] > 0)


@given(WIDTHS, st.integers(20, 200))
def test_columns_fit_the_width_if_possible(natural: tuple[int, ...], width: int) -> None:
    widths = fit_columns(natural, width)
    shown = [each for each in widths if each]
    fixed = (0, 4, 5, 6)
    kept = sum(natural[column] for column in fixed)
    assert all(each <= whole for each, whole in zip(widths, natural, strict=True))
    assert [widths[column] for column in fixed] == [natural[column] for column in fixed]
    if kept + 2 * 6 + 1 <= width:
        assert sum(shown) + 2 * (len(shown) - 1) <= width


def test_nothing_is_cut_in_a_pipe() -> None:
    assert "on the small machine" in table(UNLIMITED)
    assert "/home/ada/a/very/long/way/to/the/project" in table(UNLIMITED)
