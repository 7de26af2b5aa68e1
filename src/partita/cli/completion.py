"""`partita completion`: the script that lets a shell complete words."""

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(
    short_help="Print what lets your shell complete words.",
    epilog="""\b
To have it in every shell, once:
  bash   echo 'eval "$(partita completion bash)"' >> ~/.bashrc
  zsh    echo 'eval "$(partita completion zsh)"' >> ~/.zshrc
  fish   partita completion fish > ~/.config/fish/completions/partita.fish
\b
Examples:
  eval "$(partita completion bash)"       in this shell only
""",
)
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script for your shell that completes commands, options, formats, agents, settings and ids.

    Ids are those of the newest threads and runs, of a store that is a file. Bash must be 4.4 or newer.
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None, "click knows all three"
    script = kind(ctx.find_root().command, {}, "partita", "_PARTITA_COMPLETE")
    click.echo(script.source_template % script.source_vars())


COMMAND = completion
