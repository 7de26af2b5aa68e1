import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { violationsInBoth } from "./setup/axe";
import { type Site, serve } from "./setup/site";

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
