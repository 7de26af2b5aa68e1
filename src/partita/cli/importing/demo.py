"""`partita import --demo`: a few conversations to look at, and nobody's."""

from partita.cli.ending.interrupting import run as run_async
from partita.cli.output import print_json
from partita.cli.telling import tell


def run(*, url: str | None, as_json: bool) -> int:
    """Bring in the examples; gives the exit code."""
    from partita.demo.archive import load_archive
    from partita.store.opening import open_store

    async def work() -> int:
        async with open_store(url) as store:
            return await load_archive(store)

    count = run_async(work())
    if as_json:
        print_json({"threads": count})
    else:
        tell(f"threads   {count:>9,}  examples; `partita threads` lists them")
    return 0
