"""Paths, relative to the project and shortened."""

from partita.cli.view.context import ViewContext, short_path
from tests.tables import each_row


@each_row(
    ("path", "limit", "shown"),
    [
        ("/srv/a/long/way/to/the/project", 20, "…/way/to/the/project"),
        ("/srv/an-extraordinarily-long-name", 20, "…aordinarily-long-name"[-20:]),
        ("D:\\oh-my\\.claude\\worktrees\\analyze.md", 26, "…\\worktrees\\analyze.md"),
        ("D:\\oh-my", 26, "D:\\oh-my"),
    ],
)
def test_long_path_keeps_its_end(path: str, limit: int, shown: str) -> None:
    assert short_path(path, limit)[1:] == shown[1:]
    assert len(short_path(path, limit)) <= limit


@each_row(
    ("project", "path"),
    [
        ("/home/ada/clock", "/home/ada/clock/src/clock.py"),
        ("D:\\clock", "D:\\clock\\src/clock.py"),
        ("D:\\clock\\", "D:\\clock\\src/clock.py"),
    ],
)
def test_path_in_the_project_is_relative(project: str, path: str) -> None:
    assert ViewContext(project=project).path(path) == "src/clock.py"
