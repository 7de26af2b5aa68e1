"""`partita formats`: what can be read and written."""

import click

from .options import json_option
from .output import print_lines, say
from .telling import tell


@click.command(
    short_help="List everything that can be read and written.",
    epilog="""\b
Examples:
  partita formats
  partita formats --json | jq -r 'select(.written).name'
""",
)
@json_option
def formats(as_json: bool) -> None:
    """List every format, and whether it can be read, written or streamed."""
    from partita.formats.registry import broken_formats

    if as_json:
        _print_json()
    else:
        _print()
    for name, broken in broken_formats().items():
        say(f"{name} of the package {broken.package} cannot be used: {broken.why}")


def _print_json() -> None:
    from partita.formats.registry import ALIASES, all_formats

    short = {full: alias for alias, full in ALIASES.items()}
    print_lines(
        {
            "name": name,
            "alias": short.get(name),
            "title": format_.title,
            "read": format_.load is not None,
            "written": format_.dump is not None,
            "streamed": format_.decoder is not None,
            "carries": format_.slot is not None,
        }
        for name, format_ in all_formats().items()
    )


def _print() -> None:
    from partita.formats.registry import ALIASES, all_formats

    short = {full: alias for alias, full in ALIASES.items()}
    for name, format_ in all_formats().items():
        does = [
            word
            for word, can in (
                ("read", format_.load),
                ("written", format_.dump),
                ("streamed", format_.decoder),
            )
            if can
        ]
        alias = f"  (or: {short[name]})" if name in short else ""
        tell(f"{name:24} {', '.join(does):23} {format_.title}{alias}", hang=49)


COMMAND = formats
