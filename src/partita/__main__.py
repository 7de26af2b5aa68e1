"""`python -m partita` is `partita`."""

from partita.cli.main import main

main()
