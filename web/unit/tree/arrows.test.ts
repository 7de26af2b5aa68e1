/** Imports point one way: a folder knows those before it, never those after it. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "..", "src");

/** Each folder, and what it may know besides itself and the generated types. */
const KNOWS: Record<string, readonly string[]> = {
  api: [],
  ui: ["api"],
  styles: [],
  stream: [],
  viewing: [],
  mermaid: ["markdown"], // what is said across the frame
  markdown: ["ui", "viewing"],
  tools: ["ui", "stream", "viewing", "markdown"],
  parts: ["ui", "stream", "viewing", "markdown", "tools"],
  drawing: ["ui", "api", "viewing", "parts"],
  threads: ["ui", "api"],
  chat: ["ui", "api", "stream", "viewing", "parts"],
  share: ["ui", "api", "parts"],
  conversation: ["ui", "api", "stream", "viewing", "parts", "drawing", "chat", "share"],
  reader: ["ui", "styles", "viewing", "markdown", "parts"],
  replay: ["ui", "api", "stream", "viewing", "parts", "drawing"],
  compare: ["ui", "api", "replay"],
  analytics: ["ui", "api"],
  convert: ["ui", "api", "tools", "reader"],
};

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return files(path);
    return /\.tsx?$/.test(name) ? [path] : [];
  });
}

function arrows(folder: string): string[] {
  const found = files(join(ROOT, folder)).flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.\.?\/[^"]+)"/g)].map(([, path]) =>
      relative(ROOT, join(dirname(file), path ?? "")),
    ),
  );
  const folders = found.filter((path) => path.includes("/")).map((path) => path.split("/")[0] ?? "");
  return [...new Set(folders)].filter((name) => name !== folder).sort();
}

describe("the folders of the page", () => {
  it("are all known here", () => {
    const there = readdirSync(ROOT).filter((name) => statSync(join(ROOT, name)).isDirectory());
    expect(there.filter((name) => name !== "app").sort()).toEqual(Object.keys(KNOWS).sort());
  });

  it.each(Object.keys(KNOWS))("%s knows only what it may", (folder) => {
    expect(arrows(folder).filter((name) => !KNOWS[folder]?.includes(name))).toEqual([]);
  });
});
