"""Find in a thread: every occurrence of the words of a query, by part."""

from collections.abc import Iterable, Iterator

from sqlalchemy import select

from partita.store.messages.rows import read_messages
from partita.store.schema import messages
from partita.store.sql.transaction import Transaction, batched
from partita.store.threads import rows as threads
from partita.store.values import MESSAGE_FIELDS, PartMatches, SearchFilter, ThreadMatches
from partita.types.messages import Message

from .conditions import shown_fields
from .fields import SearchFields, fields_by_part
from .index import newest_keys
from .query import Query, letters_of, parse, spellings, with_filter
from .snippet import composed, occurrences

MAX_MESSAGES = 2000
"""The number of the newest matching messages that are read."""

MAX_WORDS = 50
"""The number of different texts that are listed for a part."""


def find_in_thread(tx: Transaction, thread_id: str, query: str, *, match_case: bool = False) -> ThreadMatches:
    """Where the words of a query occur in a thread, on all its branches, in the order of its messages.

    A message that has none of the words, such as one that `tool:Bash` finds, is one match as a whole.
    """
    thread = threads.find(tx, thread_id)
    parsed = with_filter(parse(query), SearchFilter(thread_id=thread.id))
    spelled = spellings(query) if match_case else ()
    keys = newest_keys(tx, parsed, MAX_MESSAGES + 1)
    of_owner = select(messages).where(messages.c.owner == thread.owner)
    found: list[PartMatches] = []
    for batch in batched(sorted(keys[:MAX_MESSAGES])):
        rows = tx.rows(of_owner.where(messages.c.key.in_(batch)).order_by(messages.c.key))
        for message in read_messages(tx, rows, "inline"):
            found += _matches(message, parsed, spelled)
    return ThreadMatches(items=tuple(found), complete=len(keys) <= MAX_MESSAGES)


def _matches(message: Message, query: Query, spelled: tuple[str, ...]) -> list[PartMatches]:
    found: list[PartMatches] = []
    if query.required:
        for path, fields in fields_by_part(message):
            texts = [text for text in _texts(fields, query) if not spelled or _is_spelled(text, spelled)]
            if texts:
                words = tuple(dict.fromkeys(texts))[:MAX_WORDS]
                found.append(
                    PartMatches(message_id=message.id, part=path or None, count=len(texts), words=words)
                )
    return found if found or query.required else [PartMatches(message_id=message.id, count=1)]


def _texts(fields: SearchFields, query: Query) -> Iterator[str]:
    """The texts in the fields of a part that the words of a query match."""
    shown = shown_fields(query)
    for name, field in zip(MESSAGE_FIELDS, fields, strict=True):
        if name in shown and field:
            text = composed(field)
            yield from (text[start:end] for start, end in occurrences(text, query.terms_in(name)))


def _is_spelled(text: str, spelled: Iterable[str]) -> bool:
    letters = letters_of(text)
    return any(letters.startswith(one) for one in spelled)
