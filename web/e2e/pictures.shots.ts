/** The pictures of the documentation: each main view on the bundled demo, light and dark. `make pictures`. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, it } from "vitest";
import { ROOT, type Site, serve } from "./setup/site";

const FOLDER = join(ROOT, "docs", "pictures");
const CODING = "7c1f4c5e-2f0a-4d0b-9a52-6b1d2f7c9e10";

interface View {
  readonly name: string;
  readonly hash: (site: Site) => string | Promise<string>;
  readonly ready?: (page: Page) => Promise<unknown>;
}

const VIEWS: readonly View[] = [
  { name: "sessions", hash: editOf, ready: (page) => page.keyboard.press("o") },
  { name: "chat", hash: () => "#/new" },
  { name: "network", hash: (site) => threadOf(site, "demo-network") },
  { name: "replay", hash: (site) => runOf(site) },
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
];

async function threadOf(site: Site, agent: string): Promise<string> {
  const { items } = await site.api<{ items: { id: string }[] }>("GET", `api/threads?agent=${agent}`);
  return `#/t/${items[0]?.id ?? CODING}`;
}

/** The coding session, where it changes a file. */
async function editOf(site: Site): Promise<string> {
  interface Stored {
    readonly id: string;
    readonly content: { readonly parts: readonly { readonly name?: string }[] };
  }
  const { items } = await site.api<{ items: Stored[] }>("GET", `api/threads/${CODING}/messages`);
  const edit = items.find(({ content }) => content.parts.some(({ name }) => name === "MultiEdit"));
  return `#/t/${CODING}?m=${edit?.id}`;
}

async function runOf(site: Site): Promise<string> {
  const { items } = await site.api<{ items: { id: string }[] }>("GET", "api/runs?threadId=demo-weather");
  return `#/run/${items[0]?.id}`;
}

describe("pictures", () => {
  let site: Site;
  beforeAll(async () => {
    mkdirSync(FOLDER, { recursive: true });
    site = await serve({ demo: true });
    await new Promise((resolve) => setTimeout(resolve, 20_000)); // the demo agents take their turns
  }, 60_000);
  afterAll(() => site.stop());

  for (const theme of ["light", "dark"] as const) {
    it.each(VIEWS)(`$name, ${theme}`, async ({ name, hash, ready }) => {
      const page = await site.open(await hash(site), { theme, viewport: { width: 1360, height: 850 } });
      await page.waitForTimeout(1500);
      await ready?.(page);
      await page.waitForTimeout(1500);
      await page.screenshot({ path: join(FOLDER, `${name}-${theme}.png`) });
      await page.context().close();
    });
  }
});
