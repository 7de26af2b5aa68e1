"""`store.keys`: API keys, `pk_<id>_<secret>`. Only a hash of the secret is stored."""

import hashlib
import hmac
import re
import secrets
from datetime import datetime
from typing import Any, Final, NamedTuple, get_args

from sqlalchemy import Row, insert, select, update

from partita.errors import StoreError

from .context import Namespace, reads, writes
from .schema import api_keys
from .sql.texts import required, storable
from .sql.transaction import Transaction, owner_of, require_row
from .values import ApiKey, KeyRole, NewKey

TEXT: Final = re.compile(r"pk_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")


class KeyText(NamedTuple):
    """The text of a key, in its two parts."""

    id: str
    secret: str

    def __repr__(self) -> str:
        return f"KeyText(id={self.id!r})"  # keeps the secret out of logs

    def __str__(self) -> str:
        return f"pk_{self.id}_{self.secret}"

    @property
    def hash(self) -> str:
        """The stored hash of the secret, which is too random to guess: a slow hash would not help."""
        return hashlib.sha256(self.secret.encode()).hexdigest()


NO_KEY: Final = KeyText("", "")
NO_HASH: Final = NO_KEY.hash
"""Compared with for a text that is not a key, so that the check takes as long as for a key."""


def new_text() -> KeyText:
    """The text of a new key."""
    return KeyText(secrets.token_hex(8), secrets.token_urlsafe(32))


def create_key(tx: Transaction, key: ApiKey, hash: str) -> ApiKey:
    """Write a new key."""
    owner = _owner(tx, key)
    if key.role not in get_args(KeyRole):
        raise StoreError(f"unknown role {key.role!r}", hint=f"one of {', '.join(get_args(KeyRole))}")
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
    """The owner of the rows that a key is for. An empty name would be for rows without an owner: refused."""
    if tx.owner is None and key.resource_id is None:
        return None
    return required(owner_of(tx, key.resource_id), "resource id")


def _check_expiry(tx: Transaction, time: datetime | None) -> None:
    if time is None:
        return
    if time.tzinfo is None:
        raise StoreError("the time of expiry has no zone", where=str(time), hint="add one, such as UTC")
    if time <= tx.now:
        raise StoreError("the key would have expired already", where=str(time), hint="choose a later time")


def _find(tx: Transaction, id: str) -> Row[Any]:
    storable(id, "the key id")
    return require_row(tx.row(select(api_keys).where(api_keys.c.id == id, tx.owned(api_keys))), "key", id)


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


def list_keys(tx: Transaction) -> tuple[ApiKey, ...]:
    """All keys, newest first, including expired and revoked ones."""
    query = select(api_keys).where(tx.owned(api_keys))
    return tuple(map(_from_row, tx.rows(query.order_by(api_keys.c.created_at.desc(), api_keys.c.id))))


def revoke_key(tx: Transaction, id: str) -> ApiKey:
    """Revoke a key. Revoking it twice changes nothing."""
    same = (api_keys.c.id == _find(tx, id).id, tx.owned(api_keys))
    tx.run(update(api_keys).where(*same, api_keys.c.revoked_at.is_(None)).values(revoked_at=tx.now))
    return _from_row(_find(tx, id))


def check_key(tx: Transaction, text: str) -> ApiKey | None:
    """The key with that text; `None` if it does not exist, has expired or was revoked.

    It takes the same time whatever is wrong with the text.
    """
    match = TEXT.fullmatch(text)
    shown = KeyText(*match.groups()) if match else NO_KEY
    row = tx.row(select(api_keys).where(api_keys.c.id == shown.id, tx.owned(api_keys)))
    same = hmac.compare_digest(shown.hash, NO_HASH if row is None else row.hash)
    if row is None or not same:
        return None
    key = _from_row(row)
    expired = key.expires_at is not None and key.expires_at <= tx.now
    return None if expired or key.revoked_at is not None else key


class Keys(Namespace):
    """Create, list, revoke and check API keys."""

    async def create(
        self,
        resource_id: str | None = None,
        role: KeyRole = "write",
        name: str | None = None,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """Create a key for the data of an owner; without one, for everything, which requires `admin`.

        The text of the key is only returned here: the store keeps a hash.
        """
        text = new_text()
        key = ApiKey(id=text.id, role=role, resource_id=resource_id, name=name, expires_at=expires_at)
        return NewKey(await self._write(create_key, key, text.hash), str(text))

    list = reads(list_keys)
    revoke = writes(revoke_key)
    check = reads(check_key)
