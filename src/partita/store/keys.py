"""Keys that let programs in: `pk_<id>_<secret>`. Of the secret only a hash is stored."""

import hashlib
import hmac
import re
import secrets
from datetime import datetime
from typing import Any, Final, NamedTuple, get_args

from sqlalchemy import Row, insert, select, update

from partita.errors import StoreError

from .owners import owner_of
from .tables import api_keys
from .texts import required, storable
from .transaction import Transaction, found
from .values import ApiKey, KeyRole

TEXT: Final = re.compile(r"pk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
NOBODY: Final = ("", "")
"""What is looked for when a text is no key, so that it takes as long as if it were one."""


class KeyText(NamedTuple):
    """What a program shows, in its two halves."""

    id: str
    secret: str

    def __repr__(self) -> str:
        return f"KeyText(id={self.id!r})"  # so that the secret reaches no log by accident

    def __str__(self) -> str:
        return f"pk_{self.id}_{self.secret}"

    @property
    def hash(self) -> str:
        """What is stored of the secret. It is random and long: no slow hash makes it harder to guess."""
        return hashlib.sha256(self.secret.encode()).hexdigest()


NO_HASH: Final = KeyText(*NOBODY).hash
"""What is compared when there is no such key."""


def new_text() -> KeyText:
    """A text nobody has yet, and nobody guesses."""
    return KeyText(secrets.token_hex(8), secrets.token_urlsafe(32))


def create(tx: Transaction, key: ApiKey, hash: str) -> ApiKey:
    """Write a new key."""
    owner = _owner(tx, key)
    if key.role not in get_args(KeyRole):
        raise StoreError(f"there is no role {key.role!r}", hint=f"one of {', '.join(get_args(KeyRole))}")
    if owner is None and key.role != "admin":
        raise StoreError(
            f"a key for every resource with the role {key.role!r}",
            hint="name the resource it is for, or make it an admin's",
        )
    _check_expiry(tx, key.expires_at)
    fields: dict[str, Any] = {
        "id": key.id,
        "owner": owner,
        "role": key.role,
        "hash": hash,
        "name": storable(key.name, "the name"),
        "created_at": tx.now,
        "expires_at": key.expires_at,
        "revoked_at": None,
    }
    tx.run(insert(api_keys).values(fields))
    return _from_row(_find(tx, key.id))


def _owner(tx: Transaction, key: ApiKey) -> str | None:
    """Whose rows a key is for. The empty name stands for rows of nobody: no key may slip into them."""
    if tx.owner is None and key.resource_id is None:
        return None
    return required(owner_of(tx, key.resource_id), "resource id")


def _check_expiry(tx: Transaction, moment: datetime | None) -> None:
    if moment is None:
        return
    if moment.tzinfo is None:
        raise StoreError("the time of expiry has no zone", where=str(moment), hint="give one, such as UTC")
    if moment <= tx.now:
        raise StoreError("the key would have expired already", where=str(moment), hint="give a later time")


def _find(tx: Transaction, id: str) -> Row[Any]:
    storable(id, "the key id")
    return found(tx.row(select(api_keys).where(api_keys.c.id == id, tx.mine(api_keys))), "key", id)


def _from_row(row: Row[Any]) -> ApiKey:
    return ApiKey(
        id=row.id,
        role=row.role,
        resource_id=row.owner,
        name=row.name,
        created_at=row.created_at,
        expires_at=row.expires_at,
        revoked_at=row.revoked_at,
    )


def list_all(tx: Transaction) -> tuple[ApiKey, ...]:
    """All keys, the newest first."""
    query = select(api_keys).where(tx.mine(api_keys))
    return tuple(map(_from_row, tx.rows(query.order_by(api_keys.c.created_at.desc(), api_keys.c.id))))


def revoke(tx: Transaction, id: str) -> ApiKey:
    """Mark a key as revoked; the first time counts."""
    mine = (api_keys.c.id == _find(tx, id).id, tx.mine(api_keys))
    tx.run(update(api_keys).where(*mine, api_keys.c.revoked_at.is_(None)).values(revoked_at=tx.now))
    return _from_row(_find(tx, id))


def check(tx: Transaction, text: str) -> ApiKey | None:
    """The key of a text, if it may be used now. Whatever is wrong with a text, to find out takes the same."""
    match = TEXT.fullmatch(text)
    shown = KeyText(*(match.groups() if match else NOBODY))
    row = tx.row(select(api_keys).where(api_keys.c.id == shown.id, tx.mine(api_keys)))
    same = hmac.compare_digest(shown.hash, NO_HASH if row is None else row.hash)
    if row is None or not same:
        return None
    key = _from_row(row)
    ended = key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= tx.now)
    return None if ended else key
