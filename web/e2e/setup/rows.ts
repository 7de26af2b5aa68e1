/** Writes sessions with times for the tests of the list. */
import { python, type Site } from "./site";

export interface SeededRow {
  readonly id: string;
  readonly title: string;
  /** Days before now. */
  readonly days?: number;
  readonly agent?: string;
  readonly project?: string;
  readonly messages?: number;
  readonly metadata?: object;
}

/** Writes threads directly into the store of a site: without messages, but with their number. */
export const seedRows = (site: Site, rows: readonly SeededRow[]): Promise<string> =>
  python(SCRIPT, `sqlite:///${site.folder}/store.db`, JSON.stringify(rows));

const SCRIPT = `
import asyncio, json, sys
from datetime import timedelta
from sqlalchemy import update
from partita.store.connection import open_store
from partita.store.schema import threads
from partita.store.threads import rows
from partita.types.threads import Thread

def write(tx, listed):
    for number, one in enumerate(listed):
        moment = tx.now - timedelta(days=one.get("days", 0), seconds=number)
        made = {name: one.get(name) for name in ("agent", "project", "metadata")}
        rows.create(tx, Thread(id=one["id"], title=one["title"], updated_at=moment, **made))
        count = update(threads).where(threads.c.id == one["id"]).values(message_count=one.get("messages", 1))
        tx.run(count)

async def main():
    async with open_store(sys.argv[1]) as store:
        await store.write(write, json.loads(sys.argv[2]))

asyncio.run(main())
`;
