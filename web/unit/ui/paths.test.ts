import { describe, expect, it } from "vitest";
import { absolutePath, editorUrl, relativePath, splitPath } from "../../src/ui/paths";

const CODE = "vscode://file/{path}:{line}:{column}";

describe("paths", () => {
  it.each([
    ["/srv/lamp/src/oil.py", "/srv/lamp", "src/oil.py"],
    ["/srv/lamp/src/oil.py", "/srv/lamp/", "src/oil.py"],
    ["/srv/lamps/oil.py", "/srv/lamp", "/srv/lamps/oil.py"],
    ["C:\\lamp\\oil.py", "C:\\lamp", "oil.py"],
    ["src/oil.py", "/srv/lamp", "src/oil.py"],
    ["/srv/lamp/oil.py", undefined, "/srv/lamp/oil.py"],
  ])("%s in %s is %s", (path, folder, relative) => {
    expect(relativePath(path, folder)).toBe(relative);
  });

  it.each([
    ["src/oil.py", "/srv/lamp", "/srv/lamp/src/oil.py"],
    ["./oil.py", "/srv/lamp/", "/srv/lamp/oil.py"],
    ["/etc/oil", "/srv/lamp", "/etc/oil"],
    ["oil.py", undefined, null],
    ["oil.py", "lamp", null],
    ["~/oil.py", "/srv/lamp", null],
    ["", "/srv/lamp", null],
  ])("%s in %s is at %s", (path, folder, absolute) => {
    expect(absolutePath(path, folder)).toBe(absolute);
  });

  it("are split before the name", () => {
    expect(splitPath("src/lamp/oil.py")).toEqual(["src/lamp", "/oil.py"]);
    expect(splitPath("src/lamp/")).toEqual(["src", "/lamp/"]);
    expect(splitPath("oil.py")).toEqual(["", "oil.py"]);
    expect(splitPath("/oil.py")).toEqual(["", "/oil.py"]);
  });
});

describe("the URL for an editor", () => {
  it.each([
    [CODE, "src/oil.py", "vscode://file/srv/lamp/src/oil.py:7:1"],
    [CODE, "C:\\lamp\\oil #1.py", "vscode://file/C:/lamp/oil%20%231.py:7:1"],
    ["idea://open?file={path}&line={line}", "a&b.py", "idea://open?file=/srv/lamp/a%26b.py&line=7"],
    ["https://code.example{path}", "oil.py", "https://code.example/srv/lamp/oil.py"],
  ])("by %s of %s is %s", (template, path, url) => {
    expect(editorUrl(template, path, "/srv/lamp", 7)).toBe(url);
  });

  it.each([
    "",
    "{path}",
    "javascript:{path}",
    "JavaScript:alert(1)//{path}",
    "data:text/html,{path}",
    "file://{path}",
  ])("does not exist for the template %j", (template) => {
    expect(editorUrl(template, "oil.py", "/srv/lamp")).toBeNull();
  });

  it("does not exist for an unknown path", () => {
    expect(editorUrl(CODE, "oil.py", undefined)).toBeNull();
  });
});
