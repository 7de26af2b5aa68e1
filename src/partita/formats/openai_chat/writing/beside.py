"""What a body says beside the words and calls of its answer: pages, pictures, sounds."""

import re
from typing import Final, TypeAlias

from partita.formats.answers.outlet import RAW_INPUT
from partita.formats.losses import Loss
from partita.formats.openai_chat.dialects import Dialect
from partita.formats.openai_chat.looking import count
from partita.formats.openai_chat.media import AUDIO, IMAGE, media_type_of
from partita.formats.openai_chat.owning import own_of
from partita.types.codec import to_json
from partita.types.json import Json, JsonObject, dumps, is_array, is_object
from partita.types.messages import AssistantPart, ToolCallPart
from partita.types.parts import Citation, FilePart, SourceUrlPart, TextPart, UrlCitationSource
from partita.types.tools import JsonOutput

NOT_A_PAGE: Final = "an answer cites pages, by where the words stand"
NO_PLACE: Final = "an answer has no place for it"

_MADE_ID: Final = re.compile(r"source-\d+")
_Spot: TypeAlias = tuple[str, int | None, int | None]
"""The address of a page, and the words that rest on it."""


class Beside:
    """Gathers what stands beside the words of an answer."""

    def __init__(self, dialect: Dialect, losses: list[Loss]) -> None:
        self._dialect = dialect
        self._losses = losses
        self.mentioned: list[Json] = []
        """Pages that no text cites."""
        self._urls: set[str] = set()
        """Their addresses: a page is told once."""
        self._cited: list[Citation] = []
        self._pages: dict[_Spot, JsonObject] = {}
        """What is said of a page that a text cites."""
        self._images: list[JsonObject] = []
        self._tools: list[JsonObject] = []
        self._audio: JsonObject | None = None

    def cite(self, part: TextPart, place: str) -> None:
        """The pages that a text cites."""
        for index, citation in enumerate(part.citations or ()):
            where = f"{place}.citations[{index}]"
            if isinstance(citation.source, UrlCitationSource):
                self._cited.append(citation)
                self._tell(to_json(citation), where, "source", "startIndex", "endIndex")
                self._tell(to_json(citation.source), f"{where}.source", "sourceType", "url", "title", "id")
                self._tell_id(citation.source.id, f"{where}.source.id")
            else:
                self._losses.append(Loss.of(where, citation, NOT_A_PAGE))

    def take(self, part: AssistantPart, place: str) -> bool:
        """Whether a part stands beside the words."""
        match part:
            case ToolCallPart(provider_executed=True, output=None | JsonOutput()):
                return self._run(part, place)
            case SourceUrlPart() if part.url and part.url not in self._urls:
                self._mention(part)
                self._tell(to_json(part), place, "type", "url", "title", "sourceId", "providerMetadata")
                self._tell_id(part.source_id, f"{place}.sourceId")
            case FilePart() if media_type_of(part.url).partition("/")[0] == "audio" and not self._audio:
                facts = (own_of(part.provider_metadata, self._dialect) or {}).get("audio")
                said = facts if is_object(facts) else {}
                self._audio = {**said, "data": part.url.partition(",")[2]}
                written = ("mediaType",) if part.media_type == AUDIO else ()
                self._tell(to_json(part), place, "type", "url", "providerMetadata", *written)
            case FilePart() if part.media_type.partition("/")[0] == "image" and part.url:
                item = {"type": "image_url", "image_url": {"url": part.url}}
                self._images.append({**item, **(own_of(part.provider_metadata, self._dialect) or {})})
                is_said = part.media_type == (media_type_of(part.url) or IMAGE)
                written = ("mediaType",) if is_said else ()
                self._tell(to_json(part), place, "type", "url", "providerMetadata", *written)
            case _:
                return False
        self._tell_others(part.provider_metadata, place)
        return True

    def _run(self, call: ToolCallPart, place: str) -> bool:
        """A tool that the server ran, if it counts them."""
        own = own_of(call.call_provider_metadata, self._dialect) or {}
        value: Json = call.output.value if isinstance(call.output, JsonOutput) else {}
        if "index" not in own or not is_object(value):
            return False
        words = own.get(RAW_INPUT)
        plain = to_json(call)
        arguments = words if isinstance(words, str) else dumps(plain.get("input", {})).decode()
        said = {"index": own["index"], "type": call.name, "arguments": arguments}
        self._tools.append({**said, **value})
        written = ("type", "name", "input", "output", "providerExecuted", "callProviderMetadata")
        self._tell({key: plain[key] for key in plain if key not in ("id", "state")}, place, *written)
        self._losses.append(Loss.of(f"{place}.id", call.id, NO_PLACE, "minor"))
        self._tell_others(call.call_provider_metadata, place)
        return True

    def fields(self, kept: JsonObject) -> JsonObject:
        """The members of a message for all this, beside those that are `kept` of it."""
        fields = dict(kept)
        others = kept.get("annotations")
        annotations = [*self._annotations(), *(others if is_array(others) else [])]
        fields |= {"annotations": annotations} if annotations else {}
        fields |= {"executed_tools": self._tools} if self._tools else {}
        fields |= {"images": self._images} if self._images else {}
        return fields | ({"audio": self._audio} if self._audio is not None else {})

    def _annotations(self) -> list[JsonObject]:
        pages = dict(self._pages)
        cited: list[JsonObject] = []
        for citation in self._cited:
            source, start, end = citation.source, citation.start_index, citation.end_index
            assert isinstance(source, UrlCitationSource), "others are told"
            plain = {"start_index": start or 0, "end_index": end or 0}
            known = pages.pop((source.url, start, end), plain)
            cited.append({"url": source.url, "title": source.title or "", **known})
        cited += [{"url": spot[0], "title": "", **page} for spot, page in pages.items()]
        return [{"type": "url_citation", "url_citation": page} for page in cited]

    def _mention(self, part: SourceUrlPart) -> None:
        facts = own_of(part.provider_metadata, self._dialect) or {}
        named = {"title": part.title} if part.title else {}
        start, end = count(facts, "start_index"), count(facts, "end_index")
        if start is not None or end is not None or any(_is(part, citation) for citation in self._cited):
            self._pages[part.url, start, end] = {**named, **facts}
        else:
            self._urls.add(part.url)
            self.mentioned.append({"url": part.url, **named, **facts} if named or facts else part.url)

    def _tell(self, plain: JsonObject, place: str, *written: str) -> None:
        for key, value in plain.items():
            if key not in written:
                self._losses.append(Loss.of(f"{place}.{key}", value, NO_PLACE))

    def _tell_id(self, id_: str, place: str) -> None:
        if not _MADE_ID.fullmatch(id_):
            self._losses.append(Loss.of(place, id_, NO_PLACE, "minor"))

    def _tell_others(self, metadata: JsonObject | None, place: str) -> None:
        for space, value in (metadata or {}).items():
            if space != self._dialect.namespace:
                self._losses.append(Loss.of(f"{place}.providerMetadata.{space}", value, NO_PLACE))


def _is(part: SourceUrlPart, citation: Citation) -> bool:
    source = citation.source
    return isinstance(source, UrlCitationSource) and (source.id, source.url) == (part.source_id, part.url)
