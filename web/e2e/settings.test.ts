import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { importBreadSession, sessionLines } from "./setup/session";
import { partita, type Site, serve, storeIn } from "./setup/site";

describe("the settings of this browser", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve();
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("apply at once and stay", async () => {
    const page = await site.open();
    await page.getByRole("heading", { name: "Home" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press(",");
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    for (const choice of ["Dark", "Compact", "Full width", "Everything"])
      await page.getByRole("button", { name: choice, exact: true }).click();
    await page.getByRole("checkbox", { name: "Commands" }).check();
    const chosen = () =>
      page.evaluate(() => ({
        ...document.documentElement.dataset,
        ...JSON.parse(localStorage.getItem("partita.preferences") ?? ""),
      }));
    const expected = {
      theme: "dark",
      density: "compact",
      width: "full",
      detail: "everything",
      open: ["commands"],
    };
    expect(await chosen()).toMatchObject(expected);
    await page.reload();
    await page.getByRole("button", { name: "Dark", exact: true, pressed: true }).waitFor();
    expect(await page.getByRole("checkbox", { name: "Commands" }).isChecked()).toBe(true);
    expect(await chosen()).toMatchObject(expected);
  });

  it("have a list of the shortcuts, and can be reset", async () => {
    const page = await site.open("#/settings");
    await page.getByRole("button", { name: "Show shortcuts" }).click();
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Dark", exact: true }).click();
    await page.getByRole("checkbox", { name: "Commands" }).check();
    await page.getByRole("combobox", { name: "Editor" }).selectOption("Zed");
    await page.getByRole("button", { name: "Reset to defaults" }).click();
    await page.getByRole("button", { name: "System", pressed: true }).waitFor();
    expect(await page.getByRole("checkbox", { name: "Commands" }).isChecked()).toBe(false);
    expect(await page.getByRole("combobox", { name: "Editor" }).inputValue()).toBe("VS Code");
    expect(await page.evaluate(() => localStorage.getItem("partita.preferences"))).toBe("{}");
  });

  it("accept only a URL that opens an editor", async () => {
    const page = await site.open("#/settings");
    const test = page.getByRole("link", { name: /^Test:/ });
    expect(await test.getAttribute("href")).toBe("vscode://file/etc/hosts:1:1");
    await page.getByRole("combobox", { name: "Editor" }).selectOption("None");
    await test.waitFor({ state: "detached" });
    await page.getByRole("combobox", { name: "Editor" }).selectOption("Custom");
    const url = page.getByRole("textbox", { name: "URL of the editor" });
    for (const wrong of ["javascript:alert('{path}')", "myeditor://open"]) {
      await url.fill(wrong);
      await page.getByRole("alert").waitFor();
      expect(await test.count()).toBe(0);
    }
    await url.fill("myeditor://open?file={path}&line={line}");
    expect(await test.getAttribute("href")).toBe("myeditor://open?file=/etc/hosts&line=1");
    await page.reload();
    await expect.poll(() => url.inputValue()).toBe("myeditor://open?file={path}&line={line}");
  });

  it("have no accessibility violations at three widths and in both themes", async () => {
    const page = await site.open("#/settings");
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await violationsInBoth(page), `at ${width}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), `at ${width}`).toBe(width);
    }
  });
});

describe("the sources of sessions", () => {
  const SESSION = "0b7f8c1e-5a52-4a06-9a3e-111111111111";
  let site: Site;
  /** Writes a session of Claude Code into a folder of the home of the server. */
  const write = (folder: string, id: string) => {
    const path = join(site.folder, folder);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, `${id}.jsonl`), sessionLines(id, ["Where is the oil?", "In the cellar."]));
    return path;
  };
  beforeAll(async () => {
    site = await serve({ env: { XDG_CONFIG_HOME: "", CLAUDE_CONFIG_DIR: "", CODEX_HOME: "" } });
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("are listed, and imported on request", async () => {
    write(".claude/projects/-kitchen", SESSION);
    const page = await site.open("#/settings/sources");
    const place = page.locator(`[data-source="${join(site.folder, ".claude")}"]`);
    await place.getByText("1 file not imported").waitFor();
    await page.getByRole("button", { name: "Import now" }).click();
    await place.getByText("1 session", { exact: true }).waitFor();
    await page.goto(`${site.address}/#/`);
    await page.getByRole("button", { name: /^Looked in \d places, 1 with sessions$/ }).click();
    await place.getByText("1 session", { exact: true }).waitFor();
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await violationsInBoth(page), `at ${width}`).toEqual([]);
    }
  });

  it("can be turned off, and folders can be added", async () => {
    write(".claude/projects/-kitchen", SESSION);
    const page = await site.open("#/settings/sources", { expected: [/400/] });
    await page.getByRole("checkbox", { name: "Claude Code" }).uncheck();
    const place = page.locator(`[data-source="${join(site.folder, ".claude")}"]`);
    await place.getByText("turned off").waitFor();
    const field = page.getByRole("textbox", { name: "Folder" });
    await field.fill("~/does-not-exist");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("alert").getByText("there is no folder").waitFor();
    const old = write("old/-lamp", `${SESSION.slice(0, -1)}2`);
    await page.getByRole("checkbox", { name: "Claude Code" }).check();
    await field.fill("~/old");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    const added = page.locator(`[data-source="${join(old, "..")}"]`);
    await added.getByText("1 file not imported").waitFor();
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await violationsInBoth(page), `at ${width}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    await added.getByRole("button", { name: /^Remove/ }).click();
    await added.waitFor({ state: "detached" });
  });
});

describe("the prices of models", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve({ env: { XDG_CONFIG_HOME: "" } });
    await importBreadSession(site, { session: "s1", degrees: 200, last: "Baked.", thinks: false });
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("are known or unknown, and can be replaced", async () => {
    const page = await site.open("#/settings/prices");
    const model = page.locator("[data-model=claude-baker]");
    await model.getByText("Price unknown").waitFor();
    await model.getByRole("button", { name: "Set price: claude-baker" }).click();
    await model.getByRole("textbox", { name: "Input", exact: true }).fill("2.5");
    await model.getByRole("textbox", { name: "Output" }).fill("much");
    await page.keyboard.press("Enter");
    await model.getByRole("alert").getByText("Write a number").waitFor();
    await model.getByRole("textbox", { name: "Output" }).fill("10");
    await page.keyboard.press("Enter");
    await model.getByText("own price").waitFor();
    expect(await model.locator("dl").innerText()).toMatch(/Input\s+\$2.5\s+Output\s+\$10\s+Cached\s+\$2.5/);
    const button = model.getByRole("button", { name: "Change: claude-baker" });
    await expect.poll(() => button.evaluate((one) => one === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await violationsInBoth(page), `at ${width}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    await model.getByRole("button", { name: "Remove" }).click();
    await model.getByText("Price unknown").waitFor();
  });
});

describe("the redaction of exports", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serve({ env: { XDG_CONFIG_HOME: "" } });
  });
  afterEach(async () => {
    await site.closePages();
    site.check();
  });
  afterAll(() => site.stop());

  it("can be extended by kinds and own texts, which can be tested", async () => {
    const page = await site.open("#/settings/redaction", { expected: [/400/] });
    await page.getByRole("checkbox", { name: /e-mail/ }).check();
    const texts = page.getByRole("textbox", { name: /^One per line/ });
    await texts.fill("/(CUST)/");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("alert").getByText("groups are not").waitFor();
    await texts.fill("/CUST-[0-9]+/");
    await page.getByRole("textbox", { name: "Test" }).fill("CUST-42 wrote to ada@lamps.example");
    await page.getByText("2 secrets replaced").waitFor();
    expect(await page.locator("pre").innerText()).not.toMatch(/CUST-42|ada@/);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("button", { name: "Save", disabled: true }).waitFor();
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await violationsInBoth(page), `at ${width}`).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    }
    await page.reload();
    await expect.poll(() => texts.inputValue()).toBe("/CUST-[0-9]+/");
    expect(await page.getByRole("checkbox", { name: /e-mail/ }).isChecked()).toBe(true);
  });
});

describe("the settings of a server with keys", () => {
  it("are those of the browser only", async () => {
    const site = await serve({ args: ["--keys"] });
    try {
      const page = await site.open("#/settings/sources", { expected: [/40[13]/] });
      const store = ["--store", storeIn(site.folder)];
      const output = await partita(site.folder, "keys", "create", "--role", "admin", ...store);
      const key = /pk_[\w-]+/.exec(output)?.[0] ?? "";
      await page.evaluate((text) => sessionStorage.setItem("partita.key", text), key);
      await page.reload();
      await page.getByRole("tab", { name: "Appearance" }).waitFor();
      expect(await page.getByRole("tab").count()).toBe(1);
    } finally {
      await site.stop();
    }
  });
});
