/**
 * Uses the chat of the guide in a browser: sends messages, watches responses stream, approves and denies calls,
 * reloads during a response, follows it in a second tab, and stops it.
 *
 *   node docs/walk/chat.mjs http://localhost:3000
 */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { findChromium } from "../../web/e2e/setup/chromium.mjs";

const { chromium } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");
const [address] = process.argv.slice(2);
const TIMEOUT = 20_000;

const report = (text) => console.log(`  ${text}`);
const found = await findChromium();
assert(found, "Chromium was not found: run `make setup`");
const browser = await chromium.launch({ executablePath: found.path, args: [...found.args, "--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1100, height: 720 }, colorScheme: "light" });
context.setDefaultTimeout(TIMEOUT);
const errors = [];

async function open(path) {
  const page = await context.newPage();
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  await page.goto(`${address}${path}`);
  return page;
}

async function send(page, text) {
  await page.getByLabel("Message").fill(text);
  await page.getByRole("button", { name: "Send" }).click();
}

const responseEnd = (page) => page.getByRole("button", { name: "Send" }).waitFor();
const lastResponse = (page) => page.locator("article.assistant").last();
const length = async (page) => (await lastResponse(page).innerText()).length;

/** Waits until the last response is longer than `before`. Returns its length. */
async function growth(page, before) {
  const deadline = Date.now() + TIMEOUT;
  while (Date.now() < deadline) {
    const now = await length(page);
    if (now > before) return now;
    await page.waitForTimeout(30);
  }
  throw new Error(`the response stays at ${before} characters`);
}

try {
  const page = await open("/");
  await page.waitForURL(/\/chat\/.+/);

  await send(page, "When is the tide?");
  await page.getByText("I should look").waitFor();
  const first = await length(page);
  const second = await growth(page, first);
  report(`the response streams: ${first} characters, then ${second}`);
  await responseEnd(page);
  await page.getByText("two metres under the keel").waitFor();
  assert((await page.locator(".call pre").innerText()).includes("14:20"));
  report("the tool ran, and its output is shown");

  await send(page, "Have you a berth?");
  await page.getByRole("button", { name: "Allow" }).waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("Berth 7 is booked").waitFor();
  await page.getByText("Is there anything else?").waitFor();
  await responseEnd(page);
  report("the approval request was shown after a reload, and was approved");

  await send(page, "Another berth, please.");
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByText("denied").waitFor();
  await responseEnd(page);
  report("the next request was denied");

  await send(page, "Tell me a story.");
  await page.getByText("the great ice").waitFor();
  await page.reload();
  await page.getByText("the great ice").waitFor();
  const reloaded = await length(page);
  const later = await growth(page, reloaded);
  report(`the response continues after a reload: ${reloaded} characters, then ${later}`);

  const other = await open(new URL(page.url()).pathname);
  await other.getByText("the great ice").waitFor();
  await growth(other, await length(other));
  report("a second tab follows the response");

  await other.getByRole("button", { name: "Stop" }).click();
  await Promise.all([responseEnd(page), responseEnd(other)]);
  const stopped = await length(page);
  await page.waitForTimeout(500);
  assert.equal(await length(page), stopped);
  assert(!(await lastResponse(page).innerText()).includes("lamp is lit"), "the response was stopped before its end");
  report(`stop in one tab stops both, at ${stopped} characters`);

  await page.reload();
  await page.getByText("the great ice").waitFor();
  assert.equal(await length(page), stopped);
  report("the stopped response is stored");

  await page.getByRole("link", { name: "New chat" }).click();
  await page.waitForURL((url) => !other.url().endsWith(url.pathname));
  await page.getByRole("link", { name: "When is the tide?" }).first().click();
  await page.getByText("the great ice").waitFor();
  report("the list of chats links to it");
  assert.deepEqual(errors, []);
} finally {
  await browser.close();
}
