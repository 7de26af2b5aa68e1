"""Content of the version 4 era, whole or in single parts, → the parts of today."""

import re

from partita.errors import ConversionError
from partita.store.messages.legacy_content import upgrade
from partita.types.codec import to_json
from partita.types.json import loads
from partita.types.messages import Message

from .migration import Changed, Migration, StoredRow, is_today, type_lost, with_content

OLDER_WORD = re.compile(
    r'"(tool-invocation|source|reasoning|details|mimeType|data|toolInvocations|experimental_attachments)"'
)
"""One of these is in any content of today's format that holds something of version 4."""


def change(message: Message, row: StoredRow) -> Changed | None:
    """The message in today's parts; one that is damaged is told, and stays."""
    if not OLDER_WORD.search(row.text) and is_today(row):
        return None
    found = upgrade(row.role, row.text)
    if found.shape == "damaged":
        raise ConversionError("the content is damaged", hint="partita doctor shows what is wrong")
    if found.shape != "version 4" or to_json(found.content) == loads(row.text):
        return None
    better = with_content(message, found.content)
    return Changed(better, "version 4 in the parts of today", (*found.losses, *type_lost(message)))


VERSION_4 = Migration("version-4-content", "Content of version 4 in the parts of today", change)
