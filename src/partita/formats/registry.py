"""The formats there are, by name. Others add theirs through the entry point group `partita.formats`."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache

from partita.errors import FormatError

from .builtin import BUILTIN, LazyFormat
from .format import Format
from .plugins import Broken, read_plugins

ALIASES: Mapping[str, str] = {
    "ui": "ai-sdk-ui-v7",
    "model": "ai-sdk-model-v7",
    "core": "ai-sdk-model-v4",
    "chunks": "ai-sdk-chunks",
    "message": "canonical",
    "claude-code": "claude-code-log",
    "codex": "codex-rollout",
}
"""Short names for what is meant most often."""


class _Formats(Mapping[str, Format]):
    """Formats by name. The module of a format is imported when the format is looked up."""

    def __init__(self, formats: Mapping[str, Format | LazyFormat]) -> None:
        self._formats = dict(formats)

    def __getitem__(self, name: str) -> Format:
        found = self._formats[name]
        if isinstance(found, LazyFormat):
            found = self._formats[name] = found.load()
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._formats

    def __iter__(self) -> Iterator[str]:
        return iter(self._formats)

    def __len__(self) -> int:
        return len(self._formats)


@cache
def all_formats() -> Mapping[str, Format]:
    """Every format by name: ours, then those of other packages."""
    own = {format_.name: format_ for format_ in BUILTIN}
    return _Formats({**own, **read_plugins({*own, *ALIASES}).formats})


def broken_formats() -> Mapping[str, Broken]:
    """The formats of other packages that cannot be used, by the name of the entry point."""
    return read_plugins({*ALIASES, *(format_.name for format_ in BUILTIN)}).broken


def api_formats() -> Mapping[str, Format]:
    """The formats of other packages that have an HTTP API, by name."""
    own, known = {format_.name for format_ in BUILTIN}, all_formats()
    others = (known[name] for name in known if name not in own)
    return {one.name: one for one in others if one.http_api is not None}


def get_format(name: str) -> Format:
    """The format of that name or alias."""
    known = all_formats()
    full = ALIASES.get(name, name)
    if full not in known:
        if broken := broken_formats().get(name):
            raise FormatError(
                f"the format {name!r} cannot be used: {broken.why}",
                where=broken.value,
                hint=f"fix or uninstall the package {broken.package}",
            )
        near = get_close_matches(name, [*known, *ALIASES], n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise FormatError(f"no format {name!r}", hint=f"{hint}there are {', '.join(sorted(known))}")
    return known[full]
