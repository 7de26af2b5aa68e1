"""Branches of a thread: the path to a message, and the other branches that start on it."""

import pytest

from partita.cli.selection import MessageTree
from partita.errors import NotFoundError, StoreError
from partita.types.messages import Message, UserMessage
from tests.tables import each_row


def message(id: str, parent: str | None, *, internal: bool = False) -> Message:
    return UserMessage(id=id, content=id, parent_id=parent, internal=internal)


#   a ─ b ─ c
#       ├── d ─ e
#       └── n(hidden) ─ f
TREE = [
    message("a", None), message("b", "a"), message("c", "b"), message("d", "b"), message("e", "d"),
    message("n", "b", internal=True), message("f", "n"),
]  # fmt: skip
SHOWN = {one.id: one for one in TREE if not one.internal}


def ids(messages: list[Message]) -> list[str]:
    return [one.id for one in messages]


def test_path_to_leaf_follows_parents() -> None:
    assert ids(MessageTree(TREE).path_to("e")) == ["a", "b", "d", "e"]
    assert MessageTree(TREE).path_to(None) == []
    assert MessageTree(TREE).path_to("gone") == []


def test_branch_through_message_continues_with_the_latest_child() -> None:
    assert ids(MessageTree(TREE).branch_through("d")) == ["a", "b", "d", "e"]
    assert ids(MessageTree(TREE).branch_through("a")) == ["a", "b", "n", "f"]


def test_path_starts_at_a_message_whose_parent_is_missing() -> None:
    assert ids(MessageTree([message("x", "gone"), message("y", "x")]).path_to("y")) == ["x", "y"]


def test_path_ends_at_a_cycle() -> None:
    cycle = MessageTree([message("x", "y"), message("y", "x")])
    assert ids(cycle.path_to("x")) == ["y", "x"]
    assert ids(cycle.branch_through("x"))


@each_row(("leaf", "others"), [("c", {"c": ["d", "f"]}), ("e", {"d": ["c", "f"]}), ("f", {"f": ["c", "d"]})])
def test_other_branches_are_listed_before_the_next_shown_message(
    leaf: str, others: dict[str, list[str]]
) -> None:
    tree = MessageTree(TREE)
    found = tree.other_branches(tree.path_to(leaf), SHOWN)
    assert {first: ids(messages) for first, messages in found.items()} == others


def test_message_is_found_by_the_beginning_of_its_id() -> None:
    tree = MessageTree([message("abc", None), message("abd", "abc"), message("x1", "abd")])
    assert (tree.find("x"), tree.find("abc")) == ("x1", "abc")
    with pytest.raises(StoreError, match="is the beginning of 2 ids of messages"):
        tree.find("ab")
    with pytest.raises(NotFoundError, match="no message 'zz'"):
        tree.find("zz")
