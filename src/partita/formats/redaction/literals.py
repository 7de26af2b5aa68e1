"""Many literals, searched at once."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

HEAD: Final = 8
"""How many characters of each literal the first search compares; none is shorter."""

Trie = dict[str, "Trie"]
END: Final = ""


def any_of(literals: Iterable[str]) -> str:
    """A regular expression for any of some literals, the longest that fits. Each character is read once."""
    trie: Trie = {}
    for literal in literals:
        node = trie
        for character in literal:
            node = node.setdefault(character, {})
        node[END] = {}
    return _expression(trie)


def _expression(node: Trie) -> str:
    branches = [
        re.escape(character) + _expression(below) for character, below in node.items() if character != END
    ]
    if not branches:
        return ""
    if len(branches) == 1 and END not in node:
        return branches[0]
    return f"(?:{'|'.join(branches)}){'?+' if END in node else ''}"


class Literals:
    """Some texts of at least `HEAD` characters, found wherever they stand."""

    def __init__(self, literals: Iterable[str]) -> None:
        self._by_head: dict[str, dict[int, set[str]]] = {}
        for literal in literals:
            self._by_head.setdefault(literal[:HEAD], {}).setdefault(len(literal), set()).add(literal)
        for head, by_length in self._by_head.items():
            self._by_head[head] = dict(sorted(by_length.items(), reverse=True))
        self._head = re.compile(any_of(sorted(self._by_head))) if self._by_head else None

    def find(self, text: str) -> Iterator[tuple[int, str]]:
        """Where a literal stands, and which; the longest where several begin."""
        place = 0
        while self._head is not None and (match := self._head.search(text, place)) is not None:
            place = match.start()
            for length, literals in self._by_head[match[0]].items():
                if (literal := text[place : place + length]) in literals:
                    yield place, literal
                    place += length - 1
                    break
            place += 1
