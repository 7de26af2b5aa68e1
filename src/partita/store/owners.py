"""Who owns a row, and who may write it."""

from partita.errors import NotFoundError

from .texts import storable
from .transaction import Transaction


def owner_of(tx: Transaction, resource_id: str | None) -> str:
    """Who will own a new row: the owner of the transaction, who may not write for anybody else."""
    if tx.owner is None:
        return storable(resource_id, "the resource id") or ""
    if resource_id is not None and resource_id != tx.owner:
        raise NotFoundError(
            f"this store belongs to {tx.owner!r}, not to {resource_id!r}", hint="use the store of that owner"
        )
    return tx.owner
