"""Recordings for one test: served, or made anew; at the end it is told what did not fit."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias

from partita.errors import AgentError
from partita.runtime.recordings.recording import Exchange, Recording, read_recording
from partita.runtime.service import AgentService
from partita.types.messages import Message

from .endpoint import Endpoint, Replaying
from .matching import Matching, Normalise, Order, RecordingError, Terms
from .providers import PROVIDERS, Provider, get_provider, provider_of
from .recorder import Forwarding, Making, saved

Mode: TypeAlias = Literal["replay", "missing", "all"]
"""Serve what is there; record what is not there; record everything anew."""

MODES: Final = ("replay", "missing", "all")
RECORD: Final = "pytest --partita-record"


class Replay:
    """The recordings of a folder, for one test. As a block, it ends with `check`."""

    def __init__(
        self,
        folder: Path | str,
        *,
        mode: Mode = "replay",
        command: str = RECORD,
        fresh: set[Path] | None = None,
        set_variables: Callable[[Mapping[str, str]], object] | None = None,
    ) -> None:
        """`command` is what records anew; `fresh` holds files that were recorded a moment ago.

        `set_variables` sets variables of the environment until the test is over.
        """
        if mode not in MODES:
            raise AgentError(f"no mode {mode!r}", hint=f"there are {', '.join(MODES)}")
        self._folder = Path(folder)
        self._mode = mode
        self._command = command
        self._fresh = set[Path]() if fresh is None else fresh
        self._set_variables = set_variables
        self._served: list[Matching] = []
        self._making: list[Making] = []
        self._endpoints: list[Endpoint] = []

    def path(self, name: str) -> Path:
        """The file of a recording: in the folder, with `.json` behind its name."""
        return self._folder / (name if name.endswith(".json") else f"{name}.json")

    def recording(self, name: str) -> Recording:
        """What a recording holds."""
        path = self.path(name)
        if not path.exists():
            raise RecordingError(f"there is no recording {name!r}", where=str(path), hint=self._how(path))
        return read_recording(path)

    def messages(self, name: str) -> tuple[Message, ...]:
        """The conversation of a recording; where none was stored, the answers in it."""
        from .model import messages_in

        return messages_in(self.recording(name))

    def endpoint(
        self,
        name: str,
        *,
        provider: str | None = None,
        order: Order = "recorded",
        ignore: Sequence[str] = (),
        normalise: Normalise | None = None,
        pause: float = 0.0,
        upstream: str | None = None,
        set_environment: bool = False,
    ) -> Endpoint:
        """A recording as the API of its provider, until the test is over.

        While it is recorded, requests go on to `upstream`, or to where the package would send them. With
        `set_environment`, clients that are made from now on find it by themselves. `pause` is the time
        between the records of a stream, in seconds.
        """
        terms = Terms(order=order, ignore=tuple(ignore), normalise=normalise)
        path = self.path(name)
        if self._records(path):
            endpoint = self._recording_endpoint(path, self._provider(path, provider), upstream, terms)
        else:
            endpoint = self._replaying_endpoint(name, provider, terms, pause)
        self._endpoints.append(endpoint)
        if set_environment:
            if self._set_variables is None:
                raise AgentError("nobody sets variables here", hint="set endpoint.environment yourself")
            self._set_variables(endpoint.environment)
        return endpoint

    def model(
        self,
        name: str,
        *,
        live: str | AgentService | None = None,
        order: Order = "recorded",
        ignore: Sequence[str] = (),
        normalise: Normalise | None = None,
    ) -> AgentService:
        """A recording as a model, for `Agent` or by itself. `live` is asked while it is recorded."""
        from .model import RecordedModel

        terms = Terms(order=order, ignore=tuple(ignore), normalise=normalise)
        path = self.path(name)
        if live is not None and self._records(path):
            from partita.runtime.registry import get_agent

            from .model import KeptModel

            kept = KeptModel(get_agent(live) if isinstance(live, str) else live)
            self._make(Making(path, "model", kept.name, kept, terms, frozenset))
            return kept
        recording = self.recording(name)
        matching = self._matching(name, recording.exchanges, terms)
        return RecordedModel(matching, terms, recording.origin.model)

    def verdict(self, *, whole: bool = True) -> str | None:
        """What did not fit; with `whole`, also what was recorded and never asked for."""
        told = [told for one in self._served if (told := one.verdict(whole=whole)) is not None]
        told += [f"{one.path.name}: {problem}" for one in self._making for problem in one.source.problems]
        return "\n\n".join(told) or None

    def check(self) -> None:
        """Raise a `RecordingError` if anything did not fit."""
        verdict = self.verdict()
        if verdict is not None:
            raise RecordingError(verdict)

    def settle(self) -> None:
        """Wait for answers that are still on their way."""
        for one in self._making:
            one.source.settle()

    def save(self) -> list[str]:
        """Write the recordings that were made, and say a line of each."""
        told = [saved(one) for one in self._making]
        self._fresh |= {one.path for one in self._making}
        self._making = []
        return told

    def close(self) -> None:
        """Take all endpoints away."""
        while self._endpoints:
            self._endpoints.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.settle()
                self.check()
                self.save()
            elif isinstance(error, AgentError):  # a run may fail because of a request that was not recorded
                self.check()
        finally:
            self.close()

    def _records(self, path: Path) -> bool:
        if path in self._fresh or self._mode == "replay":
            return False
        return self._mode == "all" or not path.exists()

    def _how(self, path: Path) -> str:
        return f"{self._command}, or partita fixture RUN -o {path}"

    def _matching(self, name: str, exchanges: Sequence[Exchange], terms: Terms) -> Matching:
        path = self.path(name)
        matching = Matching(path.name, exchanges, terms.order, f"record it anew: {self._how(path)}")
        self._served.append(matching)
        return matching

    def _make(self, making: Making) -> None:
        if any(one.path == making.path for one in self._making):
            hint = "give each endpoint and each model a file of its own"
            raise AgentError("it is being recorded already", where=str(making.path), hint=hint)
        self._making.append(making)

    def _provider(self, path: Path, named: str | None) -> Provider:
        if named is not None:
            return get_provider(named)
        if not path.exists():
            hint = f"provider= one of {', '.join(PROVIDERS)}"
            raise AgentError("nobody says whose API is to be recorded", where=str(path), hint=hint)
        return _provider_of(read_recording(path), path)

    def _recording_endpoint(
        self, path: Path, provider: Provider, upstream: str | None, terms: Terms
    ) -> Endpoint:
        own = (os.environ.get(name) for name in provider.addresses)
        source = Forwarding(provider, upstream or next(filter(None, own), provider.upstream))
        self._make(Making(path, "endpoint", provider.name, source, terms, lambda: source.secrets))
        return Endpoint(provider, source, source.problems.append, is_live=True)

    def _replaying_endpoint(self, name: str, named: str | None, terms: Terms, pause: float) -> Endpoint:
        recording, path = self.recording(name), self.path(name)
        provider = _provider_of(recording, path) if named is None else get_provider(named)
        if any(one.request is None for one in recording.exchanges):
            raise RecordingError(
                f"{path.name} serves as a model only: no API was asked, or not all of it was kept",
                where=str(path),
                hint=f"use model({name!r}), or record through an endpoint: {self._command}",
            )
        own = [one for one in recording.exchanges if provider_of(one.format) in (provider, None)]
        matching = self._matching(name, own, terms)
        replaying = Replaying(provider, matching, terms, pause)
        return Endpoint(provider, replaying, matching.refuse, is_live=False)


def _provider_of(recording: Recording, path: Path) -> Provider:
    """The provider whose answers a recording holds."""
    found = {one.name: one for exchange in recording.exchanges if (one := provider_of(exchange.format))}
    named = PROVIDERS.get(recording.origin.agent or "")
    if not found and named is not None:
        return named
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise RecordingError(
            f"{path.name} serves as a model only: no API that can be served was asked",
            where=str(path),
            hint=f"use model({path.stem!r})",
        )
    raise AgentError(
        f"{path.name} holds answers of several providers", where=str(path), hint="say which: provider="
    )
