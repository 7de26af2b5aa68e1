"""All edits of a file as one diff."""

from collections.abc import Sequence

from partita.types.tool_views import Hunk
from partita.views.combined_diff import CombinedDiff
from tests.tables import each_row


def hunk(*lines: str, old: int | None = None, new: int | None = None) -> Hunk:
    return Hunk(lines=lines, old_start=old, new_start=new)


def combined(*edits: Hunk | Sequence[str]) -> list[tuple[tuple[str, ...], int | None, int | None]]:
    diff = CombinedDiff()
    for number, edit in enumerate(edits):
        if isinstance(edit, Hunk):
            diff.change(number, [edit])
        else:
            diff.write(number, edit)
    return [(one.lines, one.old_start, one.new_start) for one in diff.hunks()]


FITTING = {
    "a line that is changed again": (
        [hunk(" a", "-b", "+x", " c", old=1), hunk(" a", "-x", "+y", " c", old=1)],
        [((" a", "-b", "+y", " c"), 1, 1)],
    ),
    "a change that is undone": ([hunk(" a", "-b", "+x", old=1), hunk(" a", "-x", "+b", old=1)], []),
    "changes apart keep their numbers": (
        [hunk("-a", "+x", "+y", old=1), hunk("-p", "+q", old=21)],
        [(("-a", "+x", "+y"), 1, 1), (("-p", "+q"), 20, 21)],
    ),
    "a change above moves what is below": (
        [hunk("-p", "+q", old=20), hunk("-a", "+x", "+y", old=1)],
        [(("-a", "+x", "+y"), 1, 1), (("-p", "+q"), 20, 21)],
    ),
    "changes that overlap become one": (
        [hunk(" a", "-b", "+x", " c", old=1), hunk(" c", "-d", "+y", " e", old=3)],
        [((" a", "-b", "+x", " c", "-d", "+y", " e"), 1, 1)],
    ),
    "an edit of a new file": (
        [["one", "two"], hunk(" one", "-two", "+2", "+3")],
        [(("+one", "+2", "+3"), 1, 1)],
    ),
    "a new file that is written again": ([["one", "two"], ["two"]], [(("+two",), 1, 1)]),
    "lines of unknown places that are changed again": (
        [hunk(" the head", "-one", "+two", " the tail"), hunk("-two", "+three")],
        [((" the head", "-one", "+three", " the tail"), None, None)],
    ),
    "lines of unknown places that overlap": (
        [hunk(" first", "-one", "+two words", " the end"), hunk(" two words", " the end", "+behind")],
        [((" first", "-one", "+two words", " the end", "+behind"), None, None)],
    ),
    "lines of unknown places that have nothing in common": (
        [hunk("-one", "+1"), hunk("-two", "+2")],
        [(("-one", "+1"), None, None), (("-two", "+2"), None, None)],
    ),
    "lines that are inserted without others around them": (
        [hunk("+x", old=2), hunk("+y", old=0)],
        [(("+y",), 1, 1), (("+x",), 3, 4)],
    ),
}


@each_row("edits, expected", FITTING.values(), FITTING)
def test_edits_that_fit(edits: list[Hunk | Sequence[str]], expected: object) -> None:
    assert combined(*edits) == expected


def test_a_file_that_was_also_changed_by_something_else() -> None:
    diff = CombinedDiff()
    diff.change(0, [hunk(" a", "-b", "+x", " c", old=1)])
    diff.change(1, [hunk(" A", "-X", "+y", " C", old=1)])
    assert not diff.is_combined
    assert [(one.lines[1:3], one.edits) for one in diff.hunks()] == [
        (("-b", "+x"), (0,)),
        (("-X", "+y"), (1,)),
    ]


def test_hunks_of_one_edit_have_the_numbers_of_the_old_file() -> None:
    diff = CombinedDiff()
    diff.change(0, [hunk("-a", "+x", "+y", old=1), hunk("-p", "+q", old=20)])
    assert [(one.old_start, one.new_start) for one in diff.hunks()] == [(1, 1), (20, 21)]


def test_the_lines_between_distant_changes_are_left_out() -> None:
    diff = CombinedDiff()
    middle = [f" line {n}" for n in range(20)]
    diff.change(0, [hunk("-a", "+x", *middle, old=1)])
    diff.change(1, [hunk(*middle, "-p", "+q", old=2)])
    assert [(len(one.lines), one.old_start, one.edits) for one in diff.hunks()] == [
        (5, 1, (0,)),
        (5, 19, (1,)),
    ]


def test_a_new_file_that_is_deleted_leaves_nothing() -> None:
    diff = CombinedDiff()
    diff.write(0, ["one"])
    diff.delete(1)
    assert list(diff.hunks()) == []
