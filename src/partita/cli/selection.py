"""Which messages of a thread are meant: a branch, with or without what is hidden, from somewhere on."""

from collections.abc import Sequence
from typing import NamedTuple

from partita.errors import NotFoundError
from partita.store.facade.store import Store
from partita.types.messages import Message
from partita.types.threads import Thread

from .opened import Wait
from .output import say
from .view.branches import Branches
from .view.text import one_line


class Selection(NamedTuple):
    """What was asked for."""

    branch: str | None = None  # a message on it, by the beginning of its id; the active one without
    internal: bool = False
    first: int | None = None  # the number to begin with
    last: int | None = None  # how many, counted from the end


class Chosen(NamedTuple):
    """The messages to show, large values left where they are, and the branches that leave them."""

    thread: Thread
    messages: list[Message]
    others: dict[str, list[Message]]
    left_out: int  # of the branch, before these


def choose(store: Store, wait: Wait, thread: Thread, selection: Selection) -> Chosen:
    """The messages that are asked for, in order."""
    every = wait(
        store.list_messages(thread.id, limit=None, branch="all", internal=None, blobs="reference")
    ).items
    tree = Branches(every)
    leaf = None if selection.branch is None else tree.find(selection.branch)
    way = tree.way(thread.active_leaf_id) if leaf is None else tree.through(leaf)
    visible = {one.id: one for one in every if selection.internal or not one.internal}
    branch = [one for one in way if one.id in visible]
    shown = branch
    if selection.first is not None:
        shown = _beginning_with(selection.first, branch, every)
    if selection.last is not None:
        shown = shown[-selection.last :]
    return Chosen(thread, shown, tree.others(way, visible), len(branch) - len(shown))


def _beginning_with(number: int, branch: list[Message], every: Sequence[Message]) -> list[Message]:
    there = {one.seq for one in branch}
    other = next((one for one in every if one.seq == number and number not in there), None)
    if other is not None:
        hidden = (
            "is hidden: --internal"
            if other.internal
            else f"lies on another branch: --branch {one_line(other.id)}"
        )
        say(f"message {number} {hidden} shows it")
    shown = [one for one in branch if (one.seq or 0) >= number]
    if branch and not shown:
        raise NotFoundError(
            f"no message {number} or later on this branch", hint=f"its last one is {branch[-1].seq}"
        )
    return shown
