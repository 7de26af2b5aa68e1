// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { ToolCallPart } from "../../src/partita.gen";
import { ToolCard } from "../../src/tools/ToolCard";
import { type BlobPiece, useViewing, type Viewing, ViewingProvider } from "../../src/viewing/viewing";
import { call, KINDS, STATES } from "./calls";

afterEach(cleanup);

const PLACE = { messageId: "m", path: "0" };

function draw(part: ToolCallPart, more: Partial<Viewing> = {}) {
  const viewing: Viewing = {
    live: false,
    timing: () => undefined,
    loadBlob: () => Promise.reject(new Error("no blobs")),
    blobHref: () => null,
    Messages: ({ messages }) => <p>{messages.length} below</p>,
    ...more,
  };
  const view = render(
    <ViewingProvider value={viewing}>
      <ToolCard call={part} place={PLACE} />
    </ViewingProvider>,
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

describe("the card of a call", () => {
  it.each([
    ["half a comm", true, "input-streaming", "Writing input"],
    ["half a comm", false, "input-streaming", "Input not whole"],
    ["sleep 60", true, "input-available", "Running"],
    ["sleep 60", false, "input-available", "No result"],
    ["crumbs", false, "approval-requested", "Waiting for approval"],
    ["We need it", false, "output-denied", "Denied by Ada"],
    ["missing.txt", false, "output-error", "Failed"],
    ["aborted", false, "interrupted", "Stopped"],
    ["timeout", false, "interrupted", "Timed out"],
    ["lost", false, "interrupted", "Lost: no result"],
    ["so far", true, "output-available", "Running, output so far"],
  ])("says how far %s is (live: %s)", (word, live, name, words) => {
    const { card, head } = draw(state(word), { live });
    expect(card.dataset.toolState).toBe(name);
    expect(head.textContent).toContain(words);
    expect(card.getAttribute("aria-label")).toContain(words);
    expect(head.getAttribute("aria-expanded")).toBe("true");
  });

  it.each([
    ["flour\\n", "approved by Ada"],
    ["yeast", "run by the provider"],
    ["old_tool", "the tool is gone"],
  ])("notes about %s: %s", (word, note) => {
    const { head } = draw(state(word));
    expect(head.textContent).toContain(note);
    expect(head.getAttribute("aria-expanded")).toBe("false");
  });

  it.each(KINDS.map((one) => [one.name, one] as const))("of %s is one line, and opens", (_, part) => {
    const { head, card } = draw(part);
    const isWell = !head.textContent?.includes("Exit");
    expect(head.textContent?.length).toBeGreaterThan(4);
    if (isWell) expect(head.textContent).toContain("Done");
    const before = card.textContent?.length ?? 0;
    fireEvent.click(head);
    expect(card.textContent?.length).toBeGreaterThanOrEqual(before);
    expect(head.getAttribute("aria-expanded")).toBe("true");
  });

  it("shows the time it took and the exit code", () => {
    const part = KINDS.find((one) => one.name === "exec_command") ?? call("", {});
    const { head } = draw(part, {
      timing: () => ({ startedAt: "2026-03-03T10:00:00Z", endedAt: "2026-03-03T10:00:04.2Z" }),
    });
    expect(head.textContent).toContain("Exit 2");
    expect(head.textContent).toContain("4.2 s");
  });

  it("has a link in safe results, and none in a dangerous one", () => {
    const { card, head } = draw(KINDS.find((one) => one.name === "web_search") ?? call("", {}));
    fireEvent.click(head);
    const links = [...card.querySelectorAll("a")];
    expect(links.map((link) => link.getAttribute("href"))).toEqual(["https://example.org/rye"]);
    expect(links[0]?.rel).toContain("noopener");
    expect(card.textContent).toContain("Do not press");
  });

  it("closes by itself when what it ran is done, and stays as somebody chose", () => {
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
        <ViewingProvider value={viewing}>
          <ToolCard call={done} place={PLACE} />
        </ViewingProvider>,
      );
    again();
    expect(head.getAttribute("aria-expanded")).toBe("false");
    fireEvent.click(head);
    again();
    expect(head.getAttribute("aria-expanded")).toBe("true");
  });

  it("is open where a link leads inside it", () => {
    const { head } = draw(call("Read", {}, "x"), { target: { messageId: "m", path: "0.children.2.1" } });
    expect(head.getAttribute("aria-expanded")).toBe("true");
    cleanup();
    const other = draw(call("Read", {}, "x"), { target: { messageId: "m", path: "01" } });
    expect(other.head.getAttribute("aria-expanded")).toBe("false");
  });

  it("shows hostile names and outputs as text", () => {
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

  it("shows why it is asked, and no buttons where nobody can answer", () => {
    const { card } = draw(waiting);
    expect(card.textContent).toContain("It deletes files.");
    expect(screen.queryByRole("button", { name: "Approve" })).toBeNull();
  });

  it.each([
    ["Approve", true, ""],
    ["Deny", false, "not today"],
  ])("%s is sent once, with its reason", async (name, approved, reason) => {
    let settle = () => {};
    const answer = vi.fn(() => new Promise<void>((resolve) => (settle = resolve)));
    draw(waiting, { answer });
    fireEvent.change(screen.getByLabelText("Reason (optional)"), { target: { value: reason } });
    fireEvent.click(screen.getByRole("button", { name }));
    expect(answer).toHaveBeenCalledWith(waiting, reason ? { approved, reason } : { approved });
    const button = screen.getByRole<HTMLButtonElement>("button", { name });
    expect(button.disabled).toBe(true);
    settle();
    await waitFor(() => expect(button.disabled).toBe(false));
    expect(answer).toHaveBeenCalledTimes(1);
  });

  it("can be tried again when the answer did not arrive", async () => {
    draw(waiting, { answer: () => Promise.reject(new Error("no way through")) });
    const button = screen.getByRole<HTMLButtonElement>("button", { name: "Deny" });
    fireEvent.click(button);
    await waitFor(() => expect(button.disabled).toBe(false));
  });
});

describe("an output that is kept apart", () => {
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

  it("is fetched when the card is opened, and drawn for what it is when it is small", async () => {
    const loadBlob = serving(bytes("     5→line five\n     6→line six"));
    const { head } = draw(call("Read", { file_path: "a.txt" }, `${url}#text`), { loadBlob });
    expect(loadBlob).not.toHaveBeenCalled();
    fireEvent.click(head);
    await screen.findByText(/line five/);
    expect(screen.getByText(/^5\s6$/)).toBeTruthy();
    expect(loadBlob.mock.calls).toEqual([[url, 0, 65_535]]);
  });

  it("comes in pieces when it is large, no character lost where they meet", async () => {
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

  it("is a tree when it is JSON", async () => {
    const loadBlob = serving(bytes(JSON.stringify({ shelf: "x".repeat(70_000) })));
    const { head } = draw(call("stock", {}, { type: "json", value: `${url}#json` }), { loadBlob });
    fireEvent.click(head);
    await screen.findByRole("tree", { name: "Output" });
    expect(screen.getByText("shelf:")).toBeTruthy();
  });

  it("says when it is gone, and can be asked for again", async () => {
    const loadBlob = vi.fn(() => Promise.reject(new Error("there is no such blob")));
    const { head } = draw(call("stock", {}, `${url}#text`), { loadBlob });
    fireEvent.click(head);
    await screen.findByText("there is no such blob");
    fireEvent.click(screen.getByRole("button", { name: "Try again" }));
    await waitFor(() => expect(loadBlob).toHaveBeenCalledTimes(2));
  });
});

describe("a sub-agent", () => {
  it("has its messages below it", () => {
    const { head, card } = draw(KINDS.find((one) => one.children) ?? call("", {}));
    fireEvent.click(head);
    expect(card.textContent).toContain("1 below");
    expect(card.textContent).toContain("Find where loaves burn");
  });

  it("hands the place of the call to what is below", () => {
    const seen: string[] = [];
    const Messages: Viewing["Messages"] = ({ place }) => {
      useViewing();
      seen.push(place.path);
      return null;
    };
    const { head } = draw(KINDS.find((one) => one.children) ?? call("", {}), { Messages });
    fireEvent.click(head);
    expect(seen[0]).toBe("0");
  });
});
