/** Screenshots for the documentation (`make pictures`): each view on the demo data in both themes. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { compress } from "./setup/png";
import { ROOT } from "./setup/processes";
import { importBreadSession } from "./setup/session";
import { type Site, serve } from "./setup/site";

const THEMES = ["light", "dark"] as const;
const FOLDER = join(ROOT, "docs", "pictures");
/** An event of the run after the call has completed and the response has started. */
const MIDDLE = 40;
const CODING = "7c1f4c5e-2f0a-4d0b-9a52-6b1d2f7c9e10";

interface View {
  readonly name: string;
  readonly hash: (site: Site) => string | Promise<string>;
  readonly ready?: (page: Page) => Promise<unknown>;
}

const VIEWS: readonly View[] = [
  { name: "home", hash: () => "#/" },
  { name: "sessions", hash: editOf },
  { name: "files", hash: () => `#/t/${CODING}?view=files` },
  { name: "chat", hash: () => "#/new" },
  { name: "network", hash: (site) => threadOf(site, "demo-network") },
  { name: "replay", hash: (site) => runOf(site) },
  {
    name: "share",
    hash: (site) => threadOf(site, "demo-network"),
    ready: async (page) => {
      await page.getByRole("button", { name: "Share", exact: true }).click();
    },
  },
  { name: "analytics", hash: () => "#/analytics?range=all" },
  {
    name: "convert",
    hash: () => "#/convert",
    ready: (page) =>
      page
        .getByRole("button", { name: /OpenAI/ })
        .first()
        .click(),
  },
  { name: "compare", hash: pairOf },
];

async function threadOf(site: Site, agent: string): Promise<string> {
  const { items } = await site.api<{ items: { id: string }[] }>("GET", `api/threads?agent=${agent}`);
  return `#/t/${items[0]?.id ?? CODING}`;
}

/** The call of the coding session that edits files. */
async function editOf(site: Site): Promise<string> {
  interface Stored {
    readonly id: string;
    readonly content: { readonly parts: readonly { readonly name?: string }[] };
  }
  const { items } = await site.api<{ items: Stored[] }>("GET", `api/threads/${CODING}/messages`);
  const partOf = ({ content }: Stored) => content.parts.findIndex(({ name }) => name === "MultiEdit");
  const edit = items.find((one) => partOf(one) >= 0);
  return edit ? `#/t/${CODING}?m=${edit.id}&p=${partOf(edit)}` : `#/t/${CODING}`;
}

/** Two runs of the same task. */
async function pairOf(site: Site): Promise<string> {
  const session = "5e551000-0000-4000-8000-00000000000";
  const a = await importBreadSession(site, {
    session: `${session}a`,
    degrees: 230,
    last: "The bread is done: a dark crust, and it sounds hollow when you knock.",
    thinks: true,
  });
  const b = await importBreadSession(site, {
    session: `${session}b`,
    degrees: 180,
    last: "The bread is done: a pale crust, and it needs ten minutes more.",
    thinks: false,
  });
  return `#/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`;
}

async function runOf(site: Site): Promise<string> {
  const { items } = await site.api<{ items: { id: string }[] }>("GET", "api/runs?threadId=demo-weather");
  return `#/run/${items[0]?.id}?at=${MIDDLE}`;
}

describe("pictures", () => {
  let site: Site;
  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    site = await serve({ demo: true });
    await new Promise((resolve) => setTimeout(resolve, 20_000)); // until the demo agents have finished
  }, 60_000);
  afterAll(() => site.stop());

  const shots = VIEWS.flatMap((view) => THEMES.map((theme) => ({ ...view, theme })));
  it.each(shots)("$name, $theme", async ({ name, theme, hash, ready }) => {
    const page = await site.open(await hash(site), { theme, viewport: { width: 1360, height: 850 } });
    await page.waitForTimeout(1500);
    await ready?.(page);
    await page.waitForTimeout(1500);
    writeFileSync(join(FOLDER, `${name}-${theme}.png`), compress(await page.screenshot()));
    await site.closePages();
  });
});
