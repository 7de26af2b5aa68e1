"""The way to a message, and the branches that leave it."""

import pytest

from partita.cli.selection import MessageTree
from partita.errors import NotFoundError, StoreError
from partita.types.messages import Message, UserMessage
from tests.tables import each_row


def said(id: str, parent: str | None, *, internal: bool = False) -> Message:
    return UserMessage(id=id, content=id, parent_id=parent, internal=internal)


#   a ─ b ─ c
#       ├── d ─ e
#       └── n(hidden) ─ f
TREE = [
    said("a", None), said("b", "a"), said("c", "b"), said("d", "b"), said("e", "d"),
    said("n", "b", internal=True), said("f", "n"),
]  # fmt: skip
SHOWN = {message.id: message for message in TREE if not message.internal}


def ids(messages: list[Message]) -> list[str]:
    return [message.id for message in messages]


def test_the_way_to_a_leaf() -> None:
    assert ids(MessageTree(TREE).path_to("e")) == ["a", "b", "d", "e"]
    assert MessageTree(TREE).path_to(None) == []
    assert MessageTree(TREE).path_to("gone") == []


def test_the_branch_through_a_message_goes_on_with_the_latest() -> None:
    assert ids(MessageTree(TREE).branch_through("d")) == ["a", "b", "d", "e"]
    assert ids(MessageTree(TREE).branch_through("a")) == ["a", "b", "n", "f"]


def test_a_parent_that_is_gone_begins_the_way() -> None:
    assert ids(MessageTree([said("x", "gone"), said("y", "x")]).path_to("y")) == ["x", "y"]


def test_a_circle_ends() -> None:
    circle = MessageTree([said("x", "y"), said("y", "x")])
    assert ids(circle.path_to("x")) == ["y", "x"]
    assert ids(circle.branch_through("x"))


@each_row(("leaf", "others"), [("c", {"c": ["d", "f"]}), ("e", {"d": ["c", "f"]}), ("f", {"f": ["c", "d"]})])
def test_others_are_told_before_the_message_that_is_shown(leaf: str, others: dict[str, list[str]]) -> None:
    tree = MessageTree(TREE)
    found = tree.other_branches(tree.path_to(leaf), SHOWN)
    assert {first: ids(messages) for first, messages in found.items()} == others


def test_a_message_by_the_beginning_of_its_id() -> None:
    tree = MessageTree([said("abc", None), said("abd", "abc"), said("x1", "abd")])
    assert (tree.find("x"), tree.find("abc")) == ("x1", "abc")
    with pytest.raises(StoreError, match="begins the ids of 2 messages"):
        tree.find("ab")
    with pytest.raises(NotFoundError, match="no message 'zz'"):
        tree.find("zz")
