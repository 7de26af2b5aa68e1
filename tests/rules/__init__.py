"""Validates requests to model APIs, as strictly as the APIs.

`data/NAME.json` is a JSON Schema of requests to an API. What a schema cannot express is in `order`: which
message follows which, and which results belong to which calls. `refused.json` are examples that prove it.
"""

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema_rs

from partita.errors import DecodeError
from partita.types.json import Json, JsonObject, dumps, is_object, loads

from .order import ORDER

DATA: Final = Path(__file__).parent / "data"
APIS: Final = tuple(sorted(file.stem for file in DATA.glob("*.json")))
REFUSED: Final[dict[str, list[tuple[str, Json]]]] = loads((DATA.parent / "refused.json").read_bytes())
"""Paths in the histories of the law suite, each with a value there that the API refuses."""

HALF: Final = re.compile(rb"\\ud[89a-f]..", re.IGNORECASE)
"""An escaped lone surrogate, which the validator cannot read."""


def problems(api: str, body: JsonObject) -> list[str]:
    """The errors that an API would report for a request."""
    errors = list(_schema(api).iter_errors(loads(HALF.sub(b"?", dumps(body)))))
    shape = [f"{'.'.join(map(str, error.instance_path))}: {error.message[:200]}" for error in errors]
    return shape or list(ORDER[api](body))


@cache
def _schema(api: str) -> Any:
    return jsonschema_rs.validator_for(
        _read(api), retriever=_read, validate_formats=True, formats={"json-object": _is_json_object}
    )


def _read(name: str) -> JsonObject:
    """A schema by its name, or by its URI in another schema."""
    schema: JsonObject = loads((DATA / f"{name.rpartition('/')[2]}.json").read_bytes())
    return schema


def _is_json_object(text: str) -> bool:
    try:
        return is_object(loads(text))
    except DecodeError:
        return False
