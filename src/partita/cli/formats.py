"""`partita formats`: the formats that can be read and written."""

import click

from .options import json_option
from .output import echo, print_json_line, print_notice


@click.command(
    short_help="List the formats that can be read and written.",
    epilog="""\b
Examples:
  partita formats
  partita formats --json | jq -r 'select(.written).name'
""",
)
@json_option
def formats(as_json: bool) -> None:
    """List every format, and whether it can be read, written or streamed."""
    from partita.formats.registry import ALIASES, all_formats, broken_formats

    aliases = {full: alias for alias, full in ALIASES.items()}
    width = max(map(len, all_formats()))
    for name, format_ in all_formats().items():
        abilities = {
            "read": format_.load is not None,
            "written": format_.dump is not None,
            "streamed": format_.decoder is not None,
        }
        if as_json:
            print_json_line(
                {
                    "name": name,
                    "alias": aliases.get(name),
                    "title": format_.title,
                    **abilities,
                    "carries": format_.slot is not None,
                }
            )
            continue
        listed = ", ".join(word for word, able in abilities.items() if able)
        alias = f"  (or: {aliases[name]})" if name in aliases else ""
        echo(f"{name:{width}} {listed:23} {format_.title}{alias}", indent=width + 25)
    for name, broken in broken_formats().items():
        print_notice(f"{name} of the package {broken.package} cannot be used: {broken.why}")


COMMAND = formats
