/**
 * Uses the chat of the guide as somebody in front of a browser would: asks, watches words come, allows, refuses,
 * reloads in the middle of an answer, looks on from a second tab, stops.
 *
 *   node docs/walking/chat.mjs http://localhost:3000 [PICTURE]
 */
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { findChromium } from "../../web/e2e/setup/chromium.mjs";

const { chromium } = createRequire(new URL("../../web/package.json", import.meta.url))("playwright-core");
const [address, picture] = process.argv.slice(2);
const PATIENCE = 20_000;

const say = (words) => console.log(`  ${words}`);
const found = await findChromium();
assert(found, "there is no Chromium: `make setup` installs one");
const browser = await chromium.launch({ executablePath: found.path, args: [...found.args, "--no-sandbox"] });
const context = await browser.newContext({ viewport: { width: 1100, height: 720 }, colorScheme: "light" });
context.setDefaultTimeout(PATIENCE);
const problems = [];

async function open(path) {
  const page = await context.newPage();
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (said) => said.type() === "error" && problems.push(said.text()));
  await page.goto(`${address}${path}`);
  return page;
}

async function ask(page, words) {
  await page.getByLabel("Message").fill(words);
  await page.getByRole("button", { name: "Send" }).click();
}

const answered = (page) => page.getByRole("button", { name: "Send" }).waitFor();
const lastAnswer = (page) => page.locator("article.assistant").last();
const length = async (page) => (await lastAnswer(page).innerText()).length;

/** The answer is longer than it was; how long it is now. */
async function grown(page, before) {
  const until = Date.now() + PATIENCE;
  while (Date.now() < until) {
    const now = await length(page);
    if (now > before) return now;
    await page.waitForTimeout(30);
  }
  throw new Error(`the answer does not grow beyond ${before} characters`);
}

try {
  const page = await open("/");
  await page.waitForURL(/\/chat\/.+/);

  await ask(page, "When is the tide?");
  await page.getByText("I should look").waitFor();
  const first = await length(page);
  const second = await grown(page, first);
  say(`words come one by one: ${first} characters, then ${second}`);
  await answered(page);
  await page.getByText("two metres under the keel").waitFor();
  assert((await page.locator(".call pre").innerText()).includes("14:20"));
  say("the tool ran, and its output is shown");

  await ask(page, "Have you a berth?");
  await page.getByRole("button", { name: "Allow" }).waitFor();
  if (picture) await page.screenshot({ path: picture });
  await page.reload();
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("Berth 7 is kept").waitFor();
  await page.getByText("Is there anything else?").waitFor();
  await answered(page);
  say("the question was there after a reload, and was allowed");

  await ask(page, "Another berth, please.");
  await page.getByRole("button", { name: "Refuse" }).click();
  await page.getByText("refused").waitFor();
  await answered(page);
  say("the next one was refused");

  await ask(page, "Tell me a story.");
  await page.getByText("the great ice").waitFor();
  await page.reload();
  await page.getByText("the great ice").waitFor();
  const here = await length(page);
  const further = await grown(page, here);
  say(`after a reload the answer goes on: ${here} characters, then ${further}`);

  const other = await open(new URL(page.url()).pathname);
  await other.getByText("the great ice").waitFor();
  await grown(other, await length(other));
  say("a second tab follows it too");

  await other.getByRole("button", { name: "Stop" }).click();
  await Promise.all([answered(page), answered(other)]);
  const stopped = await length(page);
  await page.waitForTimeout(500);
  assert.equal(await length(page), stopped);
  assert(!(await lastAnswer(page).innerText()).includes("lamp is lit"), "it was stopped before its end");
  say(`stopped in one tab, it stops in both, at ${stopped} characters`);

  await page.reload();
  await page.getByText("the great ice").waitFor();
  assert.equal(await length(page), stopped);
  say("what it had said is kept");

  await page.getByRole("link", { name: "New chat" }).click();
  await page.waitForURL((url) => !other.url().endsWith(url.pathname));
  await page.getByRole("link", { name: "When is the tide?" }).first().click();
  await page.getByText("the great ice").waitFor();
  say("the list leads back to it");
  assert.deepEqual(problems, []);
} finally {
  await browser.close();
}
