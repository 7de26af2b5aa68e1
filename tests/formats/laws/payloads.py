"""Strategies for payloads of formats, in addition to the data files."""

from collections.abc import Mapping
from typing import Final

from hypothesis.strategies import SearchStrategy

from partita.types.json import Json
from tests.strategies import ui_messages
from tests.strategies_model import model_messages

PAYLOADS: Final[Mapping[str, SearchStrategy[Json]]] = {
    **{f"ai-sdk-ui-v{version}": ui_messages(version, valid=True) for version in (5, 6, 7)},
    **{f"ai-sdk-model-v{version}": model_messages(version) for version in (4, 5, 6, 7)},
}
