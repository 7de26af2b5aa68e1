// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  type BlobPiece,
  MessageTime,
  type RenderContext,
  RenderProvider,
  useRenderContext,
} from "../../src/context/renderContext";
import { ToolViews } from "../../src/context/toolViews";
import type { ToolCallPart } from "../../src/partita.gen";
import { loadBodies } from "../../src/tools/bodyLoader";
import { ToolCard } from "../../src/tools/ToolCard";
import { CASES, call, caseOf, KINDS, STATES, seen } from "./calls";

afterEach(cleanup);

const PLACE = { messageId: "m", path: "0" };

function draw(part: ToolCallPart, more: Partial<RenderContext> = {}, createdAt?: string) {
  const viewing: RenderContext = {
    live: false,
    timing: () => undefined,
    loadBlob: () => Promise.reject(new Error("no blobs")),
    blobHref: () => null,
    Messages: ({ messages }) => <p>{messages.length} below</p>,
    ...more,
  };
  const view = render(
    <RenderProvider value={viewing}>
      <MessageTime.Provider value={createdAt}>
        <ToolCard call={part} place={PLACE} />
      </MessageTime.Provider>
    </RenderProvider>,
  );
  const card = view.container.querySelector<HTMLElement>("[data-tool-state]");
  const head = card?.querySelector<HTMLElement>("button[aria-expanded]");
  if (!card || !head) throw new Error("there is no card");
  return { card, head, viewing, rerender: view.rerender };
}

const state = (word: string) => {
  const found = STATES.find((one) => JSON.stringify(one).includes(word));
  if (!found) throw new Error(word);
  return found;
};

beforeAll(loadBodies);

describe("the card of a call", () => {
  it.each([
    ["half a comm", true, "input-streaming", "Writing input"],
    ["half a comm", false, "input-streaming", "Input incomplete"],
    ["sleep 60", true, "input-available", "Running"],
    ["sleep 60", false, "input-available", "No result"],
    ["crumbs", false, "approval-requested", "Waiting for approval"],
    ["We need it", false, "output-denied", "Denied by Ada"],
    ["missing.txt", false, "output-error", "Failed"],
    ["aborted", false, "interrupted", "Stopped"],
    ["timeout", false, "interrupted", "Timed out"],
    ["lost", false, "interrupted", "Lost, no result"],
    ["so far", true, "output-available", "Running, partial output"],
  ])("shows the state of %s (live: %s)", (word, live, name, label) => {
    const { card, head } = draw(state(word), { live });
    expect(card.dataset.toolState).toBe(name);
    expect(head.textContent).toContain(label);
    expect(card.getAttribute("aria-label")).toContain(label);
    const isExpanded = live || label === "Waiting for approval";
    expect(head.getAttribute("aria-expanded")).toBe(String(isExpanded));
  });

  it("is running if the agent is still working, with the time since its message", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse("2026-03-03T10:00:42Z") });
    const { card, head } = draw(state("sleep 60"), { active: true }, "2026-03-03T10:00:00Z");
    expect(card.getAttribute("aria-label")).toContain("Running");
    expect(head.textContent).toContain("42 s");
    vi.useRealTimers();
  });

  it.each([
    ["missing.txt", "There is no such file."],
    ["We need it", "We need it"],
  ])("has the reason in its head if it failed: %s", (word, reason) => {
    const { head } = draw(state(word));
    expect(head.textContent).toContain(reason);
    fireEvent.click(head);
    expect(head.textContent).not.toContain(reason);
  });

  it.each([
    ["flour\\n", "approved by Ada"],
    ["yeast", "run by the provider"],
    ["old_tool", "tool no longer available"],
  ])("shows the note of %s: %s", (word, note) => {
    const { head } = draw(state(word));
    expect(head.textContent).toContain(note);
    expect(head.getAttribute("aria-expanded")).toBe("false");
  });

  it.each(KINDS.map((one) => [one.name, one] as const))("of %s is one line that expands", (_, part) => {
    const { head, card } = draw(part);
    const isWell = !head.textContent?.includes("Exit");
    expect(head.textContent?.length).toBeGreaterThan(4);
    if (isWell) expect(head.textContent).toContain("Done");
    const before = card.textContent?.length ?? 0;
    fireEvent.click(head);
    expect(card.textContent?.length).toBeGreaterThanOrEqual(before);
    expect(head.getAttribute("aria-expanded")).toBe("true");
  });

  it("shows the duration and the exit code", () => {
    const part = KINDS.find((one) => one.name === "exec_command") ?? call("", {});
    const { head } = draw(part, {
      timing: () => ({ startedAt: "2026-03-03T10:00:00Z", endedAt: "2026-03-03T10:00:04.2Z" }),
    });
    expect(head.textContent).toContain("Exit 2");
    expect(head.textContent).toContain("4.2 s");
  });

  it("links safe results, but not dangerous ones", () => {
    const { card, head } = draw(KINDS.find((one) => one.name === "web_search") ?? call("", {}));
    fireEvent.click(head);
    const links = [...card.querySelectorAll("a")];
    expect(links.map((link) => link.getAttribute("href"))).toEqual(["https://example.org/rye"]);
    expect(links[0]?.rel).toContain("noopener");
    expect(card.textContent).toContain("Do not press");
  });

  it("collapses when the call completes, unless the user has toggled it", () => {
    const running = state("sleep 60");
    const { head, rerender, viewing } = draw(running, { live: true });
    expect(head.getAttribute("aria-expanded")).toBe("true");
    const done = {
      ...running,
      state: "output-available",
      output: { type: "text", value: "ok" },
    } as ToolCallPart;
    const again = () =>
      rerender(
        <RenderProvider value={viewing}>
          <MessageTime.Provider value={undefined}>
            <ToolCard call={done} place={PLACE} />
          </MessageTime.Provider>
        </RenderProvider>,
      );
    again();
    expect(head.getAttribute("aria-expanded")).toBe("false");
    fireEvent.click(head);
    again();
    expect(head.getAttribute("aria-expanded")).toBe("true");
  });

  it("is expanded if a link leads inside it", () => {
    const { head } = draw(call("Read", {}, "x"), { target: { messageId: "m", path: "0.children.2.1" } });
    expect(head.getAttribute("aria-expanded")).toBe("true");
    cleanup();
    const other = draw(call("Read", {}, "x"), { target: { messageId: "m", path: "01" } });
    expect(other.head.getAttribute("aria-expanded")).toBe("false");
  });

  it("shows names and outputs with markup as text", () => {
    const { card, head } = draw(
      call("\u202Eevil<b>", { "<img>": "javascript:x" }, "<script>alert(1)</script>\u0000"),
    );
    fireEvent.click(head);
    expect(card.querySelector("script, b, img")).toBeNull();
    expect(card.textContent).toContain("⟦U+202E⟧evil<b>");
    expect(card.textContent).toContain("<script>alert(1)</script>⟦U+0000⟧");
  });
});

describe("an approval", () => {
  const waiting = state("crumbs");

  it("shows the reason, but no buttons if it cannot be answered", () => {
    const { card } = draw(waiting);
    expect(card.textContent).toContain("It deletes files.");
    expect(screen.queryByRole("button", { name: "Approve" })).toBeNull();
  });

  it.each([
    ["Approve", true, ""],
    ["Deny", false, "not today"],
  ])("sends %s once, with the reason", async (name, approved, reason) => {
    let settle = () => {};
    const answer = vi.fn(() => new Promise<void>((resolve) => (settle = resolve)));
    draw(waiting, { respondToApproval: answer });
    fireEvent.change(screen.getByLabelText("Reason (optional)"), { target: { value: reason } });
    fireEvent.click(screen.getByRole("button", { name }));
    expect(answer).toHaveBeenCalledWith(waiting, reason ? { approved, reason } : { approved });
    const button = screen.getByRole<HTMLButtonElement>("button", { name });
    expect(button.disabled).toBe(true);
    settle();
    await waitFor(() => expect(button.disabled).toBe(false));
    expect(answer).toHaveBeenCalledTimes(1);
  });

  it("can be retried if the response was not sent", async () => {
    draw(waiting, { respondToApproval: () => Promise.reject(new Error("connection lost")) });
    const button = screen.getByRole<HTMLButtonElement>("button", { name: "Deny" });
    fireEvent.click(button);
    await waitFor(() => expect(button.disabled).toBe(false));
  });
});

describe("a large output", () => {
  const url = `blob:sha256:${"b".repeat(64)}`;
  const bytes = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
  const serving = (data: Uint8Array<ArrayBuffer>) =>
    vi.fn(
      async (_: string, first = 0, last = data.length - 1): Promise<BlobPiece> => ({
        data: data.slice(first, last + 1),
        size: data.length,
        mediaType: "text/plain",
      }),
    );

  it("is loaded when the card is expanded; a small one completely", async () => {
    const loadBlob = serving(bytes("     5→line five\n     6→line six"));
    const part = seen(call("Read", { file_path: "a.txt" }, `${url}#text`), { kind: "read", title: "Read" });
    const text = { path: ["output"], lineCount: 2, separator: "→" };
    const classify = vi.fn(async () => [{ kind: "read", title: "Read", text, firstLine: 5 } as const]);
    const { head } = draw(part, { loadBlob, toolViews: new ToolViews(classify) });
    expect(loadBlob).not.toHaveBeenCalled();
    fireEvent.click(head);
    await screen.findByText(/^5\s6$/);
    expect(screen.getByText(/line five/)).toBeTruthy();
    expect(classify.mock.calls).toMatchObject([
      [[{ id: part.id, output: { type: "text", value: "     5→line five\n     6→line six" } }]],
    ]);
    expect(loadBlob.mock.calls).toEqual([[url, 0, 65_535]]);
  });

  it("is loaded in pieces, without losing characters at their ends", async () => {
    const text = `${"x".repeat(65_534)}é\nthe end`;
    const loadBlob = serving(bytes(text));
    const { head, card } = draw(call("Bash", { command: "cat" }, `${url}#text`), { loadBlob });
    fireEvent.click(head);
    fireEvent.click(await screen.findByRole("button", { name: "Show more" }));
    await screen.findByText("the end");
    expect(card.textContent).toContain("xé");
    expect(loadBlob.mock.calls).toEqual([
      [url, 0, 65_535],
      [url, 65_536, bytes(text).length - 1],
    ]);
  });

  it("is a tree if it is JSON", async () => {
    const loadBlob = serving(bytes(JSON.stringify({ shelf: "x".repeat(70_000) })));
    const { head } = draw(call("stock", {}, { type: "json", value: `${url}#json` }), { loadBlob });
    fireEvent.click(head);
    await screen.findByRole("tree", { name: "Output" });
    expect(screen.getByText("shelf:")).toBeTruthy();
  });

  it("shows an error if it cannot be loaded, and can be retried", async () => {
    const loadBlob = vi.fn(() => Promise.reject(new Error("there is no such blob")));
    const { head } = draw(call("stock", {}, `${url}#text`), { loadBlob });
    fireEvent.click(head);
    await screen.findByText("there is no such blob");
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(loadBlob).toHaveBeenCalledTimes(2));
  });
});

describe("a sub-agent", () => {
  it("shows its messages", () => {
    const { head, card } = draw(KINDS.find((one) => one.children) ?? call("", {}));
    fireEvent.click(head);
    expect(card.textContent).toContain("1 below");
    expect(card.textContent).toContain("Find where loaves burn");
  });

  it("passes the place of the call to its messages", () => {
    const seen: string[] = [];
    const Messages: RenderContext["Messages"] = ({ place }) => {
      useRenderContext();
      seen.push(place.path);
      return null;
    };
    const { head } = draw(KINDS.find((one) => one.children) ?? call("", {}), { Messages });
    fireEvent.click(head);
    expect(seen[0]).toBe("0");
  });
});

describe("each kind of call", () => {
  const open = (name: string) => {
    const { call: part } = caseOf(name);
    const { card, head } = draw(part);
    if (head.getAttribute("aria-expanded") === "false") fireEvent.click(head);
    return { card, head: head.textContent, text: card.textContent ?? "" };
  };

  it.each(Object.keys(CASES))("is displayed: %s", (name) => {
    const { card } = open(name);
    expect(card.dataset.toolKind).toBe(caseOf(name).view.kind);
    expect(card.getAttribute("aria-label")).toContain(caseOf(name).view.title);
  });

  it.each([
    ["Codex: a command as a list", "Shellls -l", ["ls -l", "a.py"]],
    [
      "Codex: a command that is still running",
      "Shellmake watch",
      ["watching", "Process running with session"],
    ],
    ["Codex: a command without a shell", "Shellls -l", ["in docs", "a.md"]],
    [
      "Claude Code: separate standard error",
      "in the background",
      ["Output (stdout)", "Errors (stderr)", "warning: old"],
    ],
    ["Claude Code: a command that failed", "Failed", ["Run the tests", "1 failed"]],
    [
      "Codex: a patch of three files",
      "Edit3 files+3",
      ["bakery/stale.py", "deleted", "new file", "class Dough:"],
    ],
    ["ACP: diffs", "Edit2 files+2", ["x = 2", "b.py", "y = 1"]],
    ["ACP: a command in a terminal", "ShelllsExit 1", ["a.py"]],
    ["Claude Code: a new file", "Writen.txt+1", ["new file", "one"]],
    ["Codex: a patch in a command", "Edit3 files", ["src/a.py→ src/b.py"]],
    ["Claude Code: an edit that failed", "Failed", ["String to replace not found"]],
    ["OpenCode: a file", "Reada", ["3\n4\n5"]],
    ["Claude Code: a file with a reminder", "Reada", ["System reminder"]],
    ["Claude Code: files with matches", "Searchnow in src (*.py)2 found", ["2 entries", "src/a.py"]],
    ["Claude Code: counts", "4 found", ["4 matches in 2 files"]],
    ["Claude Code: nothing found", "Find files*.rsnothing found", ["No results"]],
    ["Gemini CLI: a directory", "List", ["Directory listing for it:", "[DIR] src"]],
    ["Codex: a plan", "To doIn steps1 of 2 done", ["done: Look", "to do: Act"]],
    ["Claude Code: a plan next to the output", "PlanBuild it", ["Build"]],
    ["Codex: two questions", "2 questions", ["Which?", "chosen: a", "When?"]],
    ["Claude Code: a page with its status", "200 · 85 KB", ["What is it?", "A clock."]],
    ["Claude Code: a web search", "Web searchclocks", ["1 result", "a.example"]],
    ["Codex: a sub-agent", "workerDo it.", ["Prompt", "Do it."]],
    ["an unknown tool with a sub-agent", "delegateto: bob", ["1 below"]],
    [
      "Mastra: a network execution",
      "pastry-chefBake a cakeagent · turn 0",
      ["It knows cakes.", "The cake is done."],
    ],
    ["a tool of an MCP server", "pantry: stock", ["shelf", "flour"]],
    ["an input that is text", "sayHello, world", ["Input"]],
  ])("%s", (name, head, texts) => {
    const drawn = open(name);
    expect(drawn.head).toContain(head);
    for (const text of texts) expect(drawn.text).toContain(text);
  });

  it("shows an item of an output once", () => {
    expect(open("ACP: diffs").text).not.toContain("foreign");
  });

  it("shows the duration that the agent reports", () => {
    expect(open("Claude Code: a page with its status").head).toContain("1.5 s");
  });
});

describe("a call that arrived without a view", () => {
  const view = { kind: "command", title: "Shell", command: "ls" } as const;

  it("requests its view, and shows its name until then", async () => {
    let settle = (_: (typeof view)[]) => {};
    const classify = vi.fn(() => new Promise<(typeof view)[]>((resolve) => (settle = resolve)));
    const part = call("Bash", { command: "ls" }, undefined, { state: "input-available" });
    const { card, head } = draw(part, { live: true, toolViews: new ToolViews(classify) });
    expect(head.textContent).toContain("Bash");
    await waitFor(() => expect(classify).toHaveBeenCalledTimes(1));
    settle([view]);
    await waitFor(() => expect(head.textContent).toContain("Shell"));
    expect(card.textContent).toContain("ls");
  });

  it("keeps its previous view, and requests only that of its newest state", async () => {
    const classify = vi.fn(async (calls: readonly object[]) =>
      calls.map((one) => ({ ...view, subject: (one as ToolCallPart).rawInput as string })),
    );
    const toolViews = new ToolViews(classify);
    const parts = ["a", "ab", "abc", "abcd"].map((rawInput) => ({
      ...call("Bash", undefined, undefined, { state: "input-streaming", rawInput }),
      id: "same",
    }));
    for (const part of parts.slice(0, 3)) toolViews.request(part);
    await waitFor(() => expect(toolViews.of(parts[2] as ToolCallPart)).toMatchObject({ subject: "abc" }));
    expect(toolViews.of(parts[3] as ToolCallPart)).toMatchObject({ subject: "abc" });
    toolViews.request(parts[3] as ToolCallPart);
    await waitFor(() => expect(toolViews.of(parts[3] as ToolCallPart)).toMatchObject({ subject: "abcd" }));
    expect(classify).toHaveBeenCalledTimes(2);
  });

  it("is sent without irrelevant members", async () => {
    const classify = vi.fn(async () => [view]);
    const part = {
      ...call("Task", { prompt: "Go." }, "x".repeat(100_000)),
      children: caseOf("an unknown tool with a sub-agent").call.children,
      callProviderMetadata: { openai: { secret: 1 } },
    } as ToolCallPart;
    new ToolViews(classify).request(part);
    await waitFor(() => expect(classify).toHaveBeenCalledTimes(1));
    const [[sent]] = classify.mock.calls as unknown as [[{ output: { value: string } }[]]];
    expect(sent?.[0]?.output.value.length).toBe(64 * 1024 + 1);
    expect(JSON.stringify(sent)).not.toMatch(/secret|Go\."\}\]/);
  });

  it("shows input and output if the server does not respond, and without a server", async () => {
    const classify = () => Promise.reject(new Error("gone"));
    const drawn = draw(call("Bash", { command: "ls" }, "a.py"), { toolViews: new ToolViews(classify) });
    await waitFor(() => expect(drawn.card.dataset.toolKind).toBe("other"));
    cleanup();
    const { card, head } = draw(call("Bash", { command: "ls" }, "a.py"));
    fireEvent.click(head);
    expect(card.textContent).toContain("a.py");
  });
});
