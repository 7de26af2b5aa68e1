import { describe, expect, it } from "vitest";
import { absolutePath, editorUrl, relativePath, splitPath } from "../../src/ui/paths";

const CODE = "vscode://file/{path}:{line}:{column}";

describe("paths", () => {
  it.each([
    ["/work/lamp/src/oil.py", "/work/lamp", "src/oil.py"],
    ["/work/lamp/src/oil.py", "/work/lamp/", "src/oil.py"],
    ["/work/lamps/oil.py", "/work/lamp", "/work/lamps/oil.py"],
    ["C:\\lamp\\oil.py", "C:\\lamp", "oil.py"],
    ["src/oil.py", "/work/lamp", "src/oil.py"],
    ["/work/lamp/oil.py", undefined, "/work/lamp/oil.py"],
  ])("%s in %s is %s", (path, folder, relative) => {
    expect(relativePath(path, folder)).toBe(relative);
  });

  it.each([
    ["src/oil.py", "/work/lamp", "/work/lamp/src/oil.py"],
    ["./oil.py", "/work/lamp/", "/work/lamp/oil.py"],
    ["/etc/oil", "/work/lamp", "/etc/oil"],
    ["oil.py", undefined, null],
    ["oil.py", "lamp", null],
    ["~/oil.py", "/work/lamp", null],
    ["", "/work/lamp", null],
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
    [CODE, "src/oil.py", "vscode://file/work/lamp/src/oil.py:7:1"],
    [CODE, "C:\\lamp\\oil #1.py", "vscode://file/C:/lamp/oil%20%231.py:7:1"],
    ["idea://open?file={path}&line={line}", "a&b.py", "idea://open?file=/work/lamp/a%26b.py&line=7"],
    ["https://code.example{path}", "oil.py", "https://code.example/work/lamp/oil.py"],
  ])("by %s of %s is %s", (template, path, url) => {
    expect(editorUrl(template, path, "/work/lamp", 7)).toBe(url);
  });

  it.each([
    "",
    "{path}",
    "javascript:{path}",
    "JavaScript:alert(1)//{path}",
    "data:text/html,{path}",
    "file://{path}",
  ])("does not exist for the template %j", (template) => {
    expect(editorUrl(template, "oil.py", "/work/lamp")).toBeNull();
  });

  it("does not exist for an unknown path", () => {
    expect(editorUrl(CODE, "oil.py", undefined)).toBeNull();
  });
});
