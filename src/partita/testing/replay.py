"""The recordings of one test: replayed or recorded again, and checked at the end."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Literal, Self, TypeAlias

from partita.errors import AgentError
from partita.runtime.recordings.recording import Exchange, Recording, read_recording
from partita.runtime.service import AgentService
from partita.types.messages import Message

from .endpoint import Endpoint, RecordedApi
from .providers import PROVIDERS, Provider, get_provider, provider_of
from .recorder import Forwarder, PendingRecording, save_recording
from .request_matcher import MatchRules, Normalise, Order, RecordingError, RequestMatcher

Mode: TypeAlias = Literal["replay", "missing", "all"]
"""Replay recordings; record missing ones and replay the others; record all again."""

MODES: Final = ("replay", "missing", "all")
RECORD: Final = "pytest --partita-record"


class Replay:
    """The recordings of a folder, for one test. As a context manager it calls `check` at the end."""

    def __init__(
        self,
        folder: Path | str,
        *,
        mode: Mode = "replay",
        command: str = RECORD,
        fresh: set[Path] | None = None,
        set_variables: Callable[[Mapping[str, str]], object] | None = None,
    ) -> None:
        """`command` is the command that records again; `fresh` holds files recorded by the same test run.

        `set_variables` sets environment variables until the end of the test.
        """
        if mode not in MODES:
            raise AgentError(f"unknown mode {mode!r}", hint=f"use one of {', '.join(MODES)}")
        self._folder = Path(folder)
        self._mode = mode
        self._command = command
        self._fresh = set[Path]() if fresh is None else fresh
        self._set_variables = set_variables
        self._matchers: list[RequestMatcher] = []
        self._pending: list[PendingRecording] = []
        self._endpoints: list[Endpoint] = []

    def path(self, name: str) -> Path:
        """The file of a recording: its name in the folder, with `.json` added."""
        return self._folder / (name if name.endswith(".json") else f"{name}.json")

    def recording(self, name: str) -> Recording:
        """The content of a recording."""
        path = self.path(name)
        if not path.exists():
            raise RecordingError(
                f"there is no recording {name!r}", where=str(path), hint=self._record_command(path)
            )
        return read_recording(path)

    def messages(self, name: str) -> tuple[Message, ...]:
        """The conversation of a recording; if none was stored, its responses."""
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
        """Serve a recording as the API of its provider, until the end of the test.

        While recording, requests are forwarded to `upstream`, or to where the package would send them. With
        `set_environment`, clients created later use the endpoint without further configuration. `pause` is
        the time between the records of a stream, in seconds.
        """
        rules = MatchRules(order=order, ignore=tuple(ignore), normalise=normalise)
        path = self.path(name)
        if self._records(path):
            endpoint = self._recording_endpoint(path, self._provider(path, provider), upstream, rules)
        else:
            endpoint = self._replaying_endpoint(name, provider, rules, pause)
        self._endpoints.append(endpoint)
        if set_environment:
            if self._set_variables is None:
                raise AgentError("`set_variables` was not given", hint="set endpoint.environment yourself")
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
        """A recording as a model, for `Agent` or by itself. `live` is the model to record."""
        from .model import RecordedModel

        rules = MatchRules(order=order, ignore=tuple(ignore), normalise=normalise)
        path = self.path(name)
        if live is not None and self._records(path):
            from partita.runtime.registry import get_agent

            from .model import RecordingModel

            model = RecordingModel(get_agent(live) if isinstance(live, str) else live)
            self._add_pending(PendingRecording(path, "model", model.name, model, rules, frozenset))
            return model
        recording = self.recording(name)
        matcher = self._matcher(name, recording.exchanges, rules)
        return RecordedModel(matcher, rules, recording.origin.model)

    def verdict(self, *, include_unused: bool = True) -> str | None:
        """All mismatches; `include_unused` adds recorded requests that were not made."""
        verdicts = (matcher.verdict(include_unused=include_unused) for matcher in self._matchers)
        problems = [f"{one.path.name}: {problem}" for one in self._pending for problem in one.source.problems]
        return "\n\n".join([*filter(None, verdicts), *problems]) or None

    def check(self) -> None:
        """Raise a `RecordingError` if there is a mismatch."""
        verdict = self.verdict()
        if verdict is not None:
            raise RecordingError(verdict)

    def wait_for_responses(self) -> None:
        """Wait for responses that are still being received."""
        for one in self._pending:
            one.source.wait_for_responses()

    def save(self) -> list[str]:
        """Write the new recordings, and return a line about each."""
        lines = [save_recording(one) for one in self._pending]
        self._fresh |= {one.path for one in self._pending}
        self._pending = []
        return lines

    def close(self) -> None:
        """Close all endpoints."""
        while self._endpoints:
            self._endpoints.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                self.wait_for_responses()
                self.check()
                self.save()
            elif isinstance(error, AgentError):  # the cause may be a request that was not recorded
                self.check()
        finally:
            self.close()

    def _records(self, path: Path) -> bool:
        if path in self._fresh or self._mode == "replay":
            return False
        return self._mode == "all" or not path.exists()

    def _record_command(self, path: Path) -> str:
        return f"{self._command}, or partita fixture RUN -o {path}"

    def _matcher(self, name: str, exchanges: Sequence[Exchange], rules: MatchRules) -> RequestMatcher:
        path = self.path(name)
        advice = f"record it again: {self._record_command(path)}"
        matcher = RequestMatcher(path.name, exchanges, rules.order, advice)
        self._matchers.append(matcher)
        return matcher

    def _add_pending(self, pending: PendingRecording) -> None:
        if any(one.path == pending.path for one in self._pending):
            hint = "use a separate file for each endpoint and each model"
            raise AgentError("it is being recorded already", where=str(pending.path), hint=hint)
        self._pending.append(pending)

    def _provider(self, path: Path, named: str | None) -> Provider:
        if named is not None:
            return get_provider(named)
        if not path.exists():
            hint = f"pass provider= with one of {', '.join(PROVIDERS)}"
            raise AgentError("the provider to record is unknown", where=str(path), hint=hint)
        return _provider_of(read_recording(path), path)

    def _recording_endpoint(
        self, path: Path, provider: Provider, upstream: str | None, rules: MatchRules
    ) -> Endpoint:
        configured = (os.environ.get(name) for name in provider.address_variables)
        source = Forwarder(provider, upstream or next(filter(None, configured), provider.upstream))
        self._add_pending(
            PendingRecording(path, "endpoint", provider.name, source, rules, lambda: source.secrets)
        )
        return Endpoint(provider, source, source.problems.append, is_live=True)

    def _replaying_endpoint(self, name: str, named: str | None, rules: MatchRules, pause: float) -> Endpoint:
        recording, path = self.recording(name), self.path(name)
        provider = _provider_of(recording, path) if named is None else get_provider(named)
        if any(one.request is None for one in recording.exchanges):
            raise RecordingError(
                f"{path.name} works as a model only: no API was called, or a request was not recorded",
                where=str(path),
                hint=f"use model({name!r}), or record through an endpoint: {self._command}",
            )
        exchanges = [one for one in recording.exchanges if provider_of(one.format) in (provider, None)]
        matcher = self._matcher(name, exchanges, rules)
        api = RecordedApi(provider, matcher, rules, pause)
        return Endpoint(provider, api, matcher.add_problem, is_live=False)


def _provider_of(recording: Recording, path: Path) -> Provider:
    """The provider whose responses a recording holds."""
    found = {one.name: one for exchange in recording.exchanges if (one := provider_of(exchange.format))}
    named = PROVIDERS.get(recording.origin.agent or "")
    if not found and named is not None:
        return named
    if len(found) == 1:
        return next(iter(found.values()))
    if not found:
        raise RecordingError(
            f"{path.name} works as a model only: it has no calls of a supported API",
            where=str(path),
            hint=f"use model({path.stem!r})",
        )
    raise AgentError(
        f"{path.name} holds responses of several providers", where=str(path), hint="choose one with provider="
    )
