"""New ids: UUIDv7, so that what is made later sorts later."""

import sys

if sys.version_info >= (3, 14):
    from uuid import uuid7
else:
    from uuid_utils.compat import uuid7


def new_id() -> str:
    """An id nobody has yet."""
    return str(uuid7())
