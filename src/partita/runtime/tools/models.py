"""pydantic's models as inputs and outputs of tools. Never imports pydantic: who has a model has done so."""

import re
import sys
from typing import Any, Protocol, TypeGuard

from partita.types.json import Json, JsonObject


class Model(Protocol):
    """As much of `pydantic.BaseModel` as is used here."""

    @classmethod
    def model_json_schema(cls, *, ref_template: str) -> JsonObject: ...  # noqa: D102 # pydantic's own

    @classmethod
    def model_validate(cls, obj: Json) -> "Model": ...  # noqa: D102

    def model_dump(self, *, mode: str, by_alias: bool) -> Json: ...  # noqa: D102


def is_model_type(type_: object) -> TypeGuard[type[Model]]:
    """Whether a type is a model of pydantic."""
    base = _base_model()
    return base is not None and isinstance(type_, type) and issubclass(type_, base)


def is_model(value: object) -> TypeGuard[Model]:
    """Whether a value is one of pydantic's."""
    return is_model_type(type(value))


def read_model(type_: type, value: Json) -> object:
    """`value` as a model, by the model's own rules. Made to be msgspec's `dec_hook`."""
    if not is_model_type(type_):
        raise NotImplementedError
    return type_.model_validate(value)


def plain_model(value: object) -> Json:
    """A model as plain JSON, under the names it is read by. Made to be msgspec's `enc_hook`."""
    if not is_model(value):
        raise NotImplementedError
    return value.model_dump(mode="json", by_alias=True)


class ModelSchemas:
    """The schemas of models, and their definitions under names that no two models share."""

    def __init__(self) -> None:
        self.definitions: dict[str, JsonObject] = {}
        self._names: dict[str, type] = {}

    def describe(self, type_: type) -> JsonObject:
        """The schema of a model; references are bare names. Made to be msgspec's `schema_hook`."""
        if not is_model_type(type_):
            raise NotImplementedError
        prefix = self._name(type_)
        schema = type_.model_json_schema(ref_template=prefix + ".{model}")
        inner: JsonObject = schema.pop("$defs", {})
        self.definitions |= {f"{prefix}.{name}": definition for name, definition in inner.items()}
        return schema

    def _name(self, type_: type) -> str:
        name = re.sub(r"\W", "_", type_.__name__)
        while self._names.setdefault(name, type_) is not type_:
            name += "_"
        return name


def _base_model() -> type | None:
    module = sys.modules.get("pydantic")
    base: Any = getattr(module, "BaseModel", None)
    return base if isinstance(base, type) else None
