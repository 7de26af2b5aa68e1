/** The folders are layers: each imports only from the listed folders. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..", "src");

/** The folders from which each folder may import, besides itself and the generated types. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  api: [],
  ui: ["api"],
  styles: [],
  stream: [],
  context: ["api", "ui"],
  mermaid: ["markdown"], // the types of the messages between page and frame
  markdown: ["ui", "context"],
  tools: ["ui", "stream", "context", "markdown"],
  parts: ["ui", "stream", "context", "markdown", "tools"],
  threads: ["ui", "api"],
  home: ["ui", "api", "threads", "analytics", "settings"],
  settings: ["ui", "api", "threads"],
  chat: ["ui", "api", "stream", "context", "parts"],
  share: ["ui", "api", "parts"],
  find: ["ui", "api", "parts"],
  outline: ["ui", "tools"],
  session: ["ui", "tools"],
  conversation: [
    "ui",
    "api",
    "threads",
    "stream",
    "context",
    "parts",
    "chat",
    "share",
    "find",
    "session",
    "outline",
  ],
  reader: ["ui", "styles", "context", "markdown", "parts", "tools", "outline", "session"],
  replay: ["ui", "api", "stream", "context", "parts"],
  compare: ["ui", "api", "replay"],
  analytics: ["ui", "api", "threads"],
  convert: ["ui", "api", "context", "tools", "reader"],
  palette: ["ui", "api"],
};

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return files(path);
    return /\.tsx?$/.test(name) ? [path] : [];
  });
}

function importedFolders(folder: string): string[] {
  const found = files(join(ROOT, folder)).flatMap((file) =>
    [...readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.\.?\/[^"]+)"/g)].map(([, path]) =>
      relative(ROOT, join(dirname(file), path ?? "")),
    ),
  );
  const folders = found.filter((path) => path.includes("/")).map((path) => path.split("/")[0] ?? "");
  return [...new Set(folders)].filter((name) => name !== folder).sort();
}

describe("the folders of the page", () => {
  it("are all listed", () => {
    const there = readdirSync(ROOT).filter((name) => statSync(join(ROOT, name)).isDirectory());
    expect(there.filter((name) => name !== "app").sort()).toEqual(Object.keys(MAY_IMPORT).sort());
  });

  it.each(Object.keys(MAY_IMPORT))("%s imports only from listed folders", (folder) => {
    expect(importedFolders(folder).filter((name) => !MAY_IMPORT[folder]?.includes(name))).toEqual([]);
  });
});
