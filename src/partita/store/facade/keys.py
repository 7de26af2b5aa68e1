"""The store's keys: what lets programs in."""

from datetime import datetime

from partita.store import keys
from partita.store.values import ApiKey, KeyRole, NewKey

from .facade import Facade


class KeyStore(Facade):
    """Keys: made, listed, revoked, checked."""

    async def create_key(
        self,
        resource_id: str | None = None,
        role: KeyRole = "write",
        name: str | None = None,
        expires_at: datetime | None = None,
    ) -> NewKey:
        """A new key for what belongs to a resource; without one, for everything, which takes `admin`.

        Its text is to be had now, and never again: the store keeps a hash.
        """
        text = keys.new_text()
        made = ApiKey(id=text.id, role=role, resource_id=resource_id, name=name, expires_at=expires_at)
        return NewKey(await self.write(keys.create, made, text.hash), str(text))

    async def list_keys(self) -> tuple[ApiKey, ...]:
        """All keys, the newest first: also those that have expired or were revoked."""
        return await self.read(keys.list_all)

    async def revoke_key(self, id: str) -> ApiKey:
        """Let nobody in any more who shows this key. Done again it changes nothing."""
        return await self.write(keys.revoke, id)

    async def check_key(self, text: str) -> ApiKey | None:
        """The key of a text that somebody shows; `None` if it is none, has expired, or was revoked."""
        return await self.read(keys.check, text)
