"""What only providers understand goes along with a message or a call, sealed."""

from partita.formats.ag_ui.notes import SEALED, notes_in, others_in, rest_of, seal
from partita.types.json import Json, JsonObject

from .telling import Telling


def seal_in(metadata: JsonObject) -> Json:
    """What metadata say to providers, sealed; else the sealed value that they came with."""
    others = others_in(metadata)
    return seal(others) if others else notes_in(metadata).get(SEALED)


def tell_seal(telling: Telling, subtype: str, entity: str, sealed: Json) -> None:
    """Tell the sealed value of a message or a call, if it has one."""
    if isinstance(sealed, str):
        telling.emit("REASONING_ENCRYPTED_VALUE", subtype=subtype, entityId=entity, encryptedValue=sealed)


def lose_notes(telling: Telling, metadata: JsonObject, why: str, *told: str) -> None:
    """Tell the notes that have no place: all but those that were told."""
    if rest := rest_of(notes_in(metadata), *told):
        telling.lose("providerMetadata.agUi", rest, why)
