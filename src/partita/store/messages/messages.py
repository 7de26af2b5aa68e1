"""`store.messages`: messages and their parts."""

from collections.abc import Sequence

from partita.store.context import Namespace, reads, writes
from partita.types.messages import Message

from . import edits, queries, writer
from .prepared import prepare


class Messages(Namespace):
    """Save, list, change and delete messages, and find parts across threads."""

    async def save(self, messages: Sequence[Message], *, thread_id: str | None = None) -> tuple[Message, ...]:
        """Save messages, all or none, and return them as stored: with `seq`, parent and times.

        A message whose id exists in its thread is updated. A new one is added at the end of the active
        branch, or under its `parent_id`; `""` starts a new root. The thread must exist.
        """
        prepared = [prepare(message, thread_id) for message in messages]
        return await self._write(writer.save, prepared)

    get = reads(queries.get)
    get_many = reads(queries.get_many)
    list = reads(queries.list_messages)
    numbers = reads(queries.numbers)
    around = reads(queries.around)
    page = reads(queries.numbered_page)
    find_parts = reads(queries.find_parts)
    part_times = reads(queries.part_times)
    edit = writes(edits.edit)
    update_part = writes(edits.update_part)
    change_call = writes(edits.change_call)
    delete = writes(edits.delete_messages)
    delete_by_id = writes(edits.delete_by_id)
