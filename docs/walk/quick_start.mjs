/**
 * Uses the web app of the quick start in a browser, at each of its addresses: sends a message and reads the response.
 *
 *   node docs/walk/quick_start.mjs http://localhost:3000 http://127.0.0.1:3000
 */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { findChromium } from "../../web/e2e/setup/chromium.mjs";

const { chromium } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");
const RESPONSE = "You asked: How tall is it? Forty-one metres.";
const TIMEOUT = 60_000;

const found = await findChromium();
assert(found, "Chromium was not found: run `make setup`");
const browser = await chromium.launch({ executablePath: found.path, args: [...found.args, "--no-sandbox"] });
try {
  for (const address of process.argv.slice(2)) {
    const page = await browser.newPage();
    page.setDefaultTimeout(TIMEOUT);
    const connected = page.waitForEvent("console", (message) => message.text().includes("[HMR] connected"));
    await page.goto(address);
    await connected; // before that, the form is plain HTML
    await page.getByLabel("Message").fill("How tall is it?");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByText(RESPONSE).waitFor();
    console.log(`  the response is shown at ${address}`);
  }
} finally {
  await browser.close();
}
