/** One Chromium for all tests: it is started once, and every test has a context of its own. */
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { findChromium } from "./chromium.mjs";

declare module "vitest" {
  export interface ProvidedContext {
    browser: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const found = await findChromium();
  if (!found) throw new Error("there is no Chromium: `make setup` installs one, PARTITA_CHROMIUM names one");
  const server = await chromium.launchServer({
    executablePath: found.path,
    args: [...found.args, "--no-sandbox"],
    headless: true,
    host: "127.0.0.1",
  });
  project.provide("browser", server.wsEndpoint());
  return () => server.close();
}
