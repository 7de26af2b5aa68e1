"""`partita formats`: what can be read and written."""

import click

from partita.formats.registry import ALIASES, all_formats


@click.command(short_help="List everything that can be read and written.")
def formats() -> None:
    """List every format, and whether it can be read, written or streamed."""
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
        click.echo(f"{name:24} {', '.join(does):15} {format_.title}{alias}")


COMMAND = formats
