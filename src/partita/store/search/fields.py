"""The fields of a message as the index of SQLite takes them; no database is needed to make them."""

from .text import SearchFields
from .words import indexed


class IndexedFields(SearchFields):
    """Fields whose words were made already."""

    __slots__ = ()


def index_fields(fields: SearchFields) -> IndexedFields:
    """The words of a message as the index takes them, made before they are needed."""
    return IndexedFields(*map(indexed, fields))
