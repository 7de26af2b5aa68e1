// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import type { Message, Part } from "../../src/partita.gen";
import { addressOf, bytesOfData, shownAs, sizeOfData } from "../../src/parts/addresses";
import { Messages } from "../../src/parts/Messages";
import { grouped, MessageView } from "../../src/parts/MessageView";
import { type Viewing, ViewingProvider } from "../../src/viewing/viewing";

const drawn = vi.hoisted(() => {
  vi.resetModules(); // files share their modules, and this one needs others
  return { texts: [] as string[] };
});
vi.mock("../../src/markdown/Markdown", () => ({
  Markdown: ({ text }: { text: string }) => {
    drawn.texts.push(text);
    return <p>{text}</p>;
  },
}));

afterEach(() => {
  cleanup();
  drawn.texts.length = 0;
});
afterAll(() => {
  vi.doUnmock("../../src/markdown/Markdown");
  vi.resetModules();
});

const message = (role: string, parts: unknown[], more: object = {}, content: object = {}): Message =>
  ({
    id: "m1",
    role,
    type: "text",
    ...more,
    content: { format: 2, parts, ...content },
  }) as unknown as Message;

const viewing = (more: Partial<Viewing> = {}): Viewing => ({
  live: false,
  timing: () => undefined,
  loadBlob: () => Promise.reject(new Error("no")),
  blobHref: (url) => `/blobs/${url.slice(-4)}`,
  linkTo: ({ messageId, path }) => `#${messageId}/${path ?? ""}`,
  Messages,
  ...more,
});

const show = (it: Message, more: Partial<Viewing> = {}) =>
  render(
    <ViewingProvider value={viewing(more)}>
      <MessageView message={it} />
    </ViewingProvider>,
  );

const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more });

describe("a message", () => {
  it("says who, with which model, and at what cost", () => {
    show(
      message(
        "assistant",
        [text("hello")],
        { createdAt: "2026-01-02T03:04:05Z", internal: true },
        { metadata: { model: "tide-2", cost: 0.5 }, usage: { inputTokens: 1200, outputTokens: 30 } },
      ),
    );
    for (const words of ["Assistant", "tide-2", "internal", "1.2K in · 30 out", "$0.50", "hello"])
      expect(screen.getByText(words)).toBeTruthy();
    expect(screen.getByRole("article", { name: "Assistant" })).toBeTruthy();
  });

  it("folds instructions", () => {
    show(message("system", [text("Be brief.\nAlways.")]));
    expect(drawn.texts).toEqual([]);
    fireEvent.click(screen.getByRole("button", { name: /Be brief/ }));
    expect(drawn.texts).toEqual(["Be brief.\nAlways."]);
  });

  it("is a thin line when it is an event", () => {
    show(message("user", [text("Model changed")], { type: "event" }));
    expect(screen.queryByRole("heading")).toBeNull();
    expect(screen.getByRole("button", { name: /Model changed/, expanded: false })).toBeTruthy();
  });

  it("says when there is nothing in it", () => {
    show(message("assistant", []));
    expect(screen.getByText("Nothing was said.")).toBeTruthy();
  });

  it("gives every part the place that its link names", () => {
    const { container } = show(message("assistant", [text("a"), text("b")]));
    const places = [...container.querySelectorAll("[data-part]")].map((one) => [
      one.id,
      one.getAttribute("data-place"),
    ]);
    expect(places).toEqual([
      ["part-m1-0", "m1/0"],
      ["part-m1-1", "m1/1"],
    ]);
    expect(container.querySelector("article")?.id).toBe("message-m1");
  });

  it("draws no part again that did not change", () => {
    const first = text("first");
    const { rerender } = show(message("assistant", [first, text("sec")]));
    const stable = viewing();
    rerender(
      <ViewingProvider value={stable}>
        <MessageView message={message("assistant", [first, text("second")])} />
      </ViewingProvider>,
    );
    drawn.texts.length = 0;
    rerender(
      <ViewingProvider value={stable}>
        <MessageView message={message("assistant", [first, text("second!")])} />
      </ViewingProvider>,
    );
    expect(drawn.texts).toEqual(["second!"]);
  });

  it("marks steps after the first", () => {
    show(message("assistant", [{ type: "step-start" }, text("a"), { type: "step-start" }, text("b")]));
    expect(screen.queryByText("Step 1")).toBeNull();
    expect(screen.getByText("Step 2")).toBeTruthy();
  });

  it("puts sources that follow each other into one row", () => {
    const source = { type: "source-url", sourceId: "s", url: "https://example.org" };
    const groups = grouped([text("a"), source, source, text("b"), source] as unknown as Part[]);
    expect(groups.map(({ start, members }) => [start, members.length])).toEqual([
      [0, 1],
      [1, 2],
      [3, 1],
      [4, 1],
    ]);
  });
});

describe("reasoning", () => {
  const reasoning = (words: string, more: object = {}) => ({ type: "reasoning", text: words, ...more });

  it("is closed when it is done, with its time and tokens", () => {
    show(message("assistant", [reasoning("hm", { tokenCount: 7 })]), {
      timing: () => ({ startedAt: "2026-01-01T00:00:00Z", endedAt: "2026-01-01T00:00:04.200Z" }),
    });
    expect(screen.getByText("4.2 s · 7 tokens")).toBeTruthy();
    expect(drawn.texts).toEqual([]);
  });

  it("is open while it comes", () => {
    show(message("assistant", [reasoning("hm", { state: "streaming" })]), { live: true });
    expect(drawn.texts).toEqual(["hm"]);
  });

  it("says when a provider hides it, and when there is none", () => {
    show(
      message("assistant", [
        reasoning("", { providerMetadata: { anthropic: { redactedData: "x" } } }),
        reasoning(""),
      ]),
    );
    expect(screen.getByText("hidden by its provider")).toBeTruthy();
    expect(screen.getByText("not shown")).toBeTruthy();
  });
});

describe("threads inside", () => {
  const nested = (level: number): Message =>
    message("assistant", [
      text(`level ${level}`),
      ...(level > 0
        ? [
            {
              type: "tool-call",
              id: `c${level}`,
              name: "x",
              state: "output-available",
              input: {},
              children: [nested(level - 1)],
            },
          ]
        : []),
    ]);
  const list = (messages: readonly Message[], more: Partial<Viewing> = {}) =>
    render(
      <ViewingProvider value={viewing(more)}>
        <Messages messages={messages} place={{ messageId: "m1", path: "2" }} />
      </ViewingProvider>,
    );

  it("are not drawn before they are opened", () => {
    list([nested(1)]);
    expect(drawn.texts).toEqual([]);
    fireEvent.click(screen.getByRole("button", { name: /1 message, 1 call/ }));
    expect(drawn.texts).toEqual(["level 1"]);
  });

  it("stand open where the address leads into them", () => {
    list([nested(0)], { target: { messageId: "m1", path: "2.children.0.0" } });
    expect(drawn.texts).toEqual(["level 0"]);
    expect(document.getElementById("part-m1-2.children.0.0")).toBeTruthy();
  });

  it("come a page at a time", () => {
    list(Array.from({ length: 40 }, (_, index) => message("user", [text(`n${index}`)], { id: `n${index}` })));
    fireEvent.click(screen.getByRole("button", { name: /40 messages/ }));
    expect(drawn.texts.length).toBe(30);
    fireEvent.click(screen.getByRole("button", { name: /10 left/ }));
    expect(screen.getByText("n39", { selector: "p" })).toBeTruthy();
  });
});

describe("a turn of a network", () => {
  it("says what was chosen, why, and what came of it", () => {
    show(
      message(
        "assistant",
        [],
        {},
        {
          networkExecution: {
            primitiveType: "agent",
            primitiveId: "sky",
            selectionReason: "It knows rain.",
            input: "Oslo?",
            iteration: 1,
            finalResult: { text: "wet", messages: [message("user", [text("inner")])] },
          },
        },
      ),
    );
    for (const words of ["Ran", "sky", "It knows rain.", "turn 1", "Oslo?", "wet", "1 message"])
      expect(screen.getByText(words, { exact: false })).toBeTruthy();
  });

  it.each([
    ["fails", { error: "no ink" }, "Failed:", "no ink"],
    ["is interrupted", { interrupted: "lost" }, "Failed:", "interrupted: lost"],
    ["runs, or waits", {}, "Runs", "1 message"],
  ])("%s", (_, end, state, words) => {
    const router = message("assistant", [text("I choose.")], { internal: true });
    const messages = [message("user", [text("inner")]), router];
    const finalResult = { messages, ...end };
    const networkExecution = { primitiveType: "agent", primitiveId: "sky", finalResult };
    show(message("assistant", [], {}, { networkExecution }));
    expect(screen.getByText(state)).toBeTruthy();
    expect(screen.getByText(words, { exact: false })).toBeTruthy();
  });
});

describe("files", () => {
  it.each([
    ["image/png", "image"],
    ["image/svg+xml", "file"],
    ["audio/mpeg", "audio"],
    ["video/mp4", "video"],
    ["application/pdf", "pdf"],
    ["text/html", "file"],
    ["IMAGE/PNG; x=y", "image"],
  ])("of %s are shown as %s", (type, wanted) => {
    expect(shownAs(type)).toBe(wanted);
  });

  it.each([
    ["data:text/plain;base64,aGFsbG8=", { kind: "here", href: "data:text/plain;base64,aGFsbG8=", size: 5 }],
    ["blob:sha256:abcd", { kind: "here", href: "/blobs/abcd" }],
    ["https://example.org/a", { kind: "elsewhere", href: "https://example.org/a", host: "example.org" }],
    ["javascript:alert(1)", { kind: "none" }],
    ["blob:https://example.org/x", { kind: "none" }],
    ["file:///etc/passwd", { kind: "none" }],
  ])("at %s", (url, wanted) => {
    expect(addressOf(url, viewing().blobHref)).toEqual(wanted);
  });

  it("in an address are read back", () => {
    expect(new TextDecoder().decode(bytesOfData("data:text/plain;base64,aGFsbG8="))).toBe("hallo");
    expect(new TextDecoder().decode(bytesOfData("data:text/plain,ha%20llo"))).toBe("ha llo");
    expect(sizeOfData("data:text/plain,abc")).toBe(3);
  });

  it("that say two different things are not drawn", () => {
    const { container } = show(
      message("user", [
        { type: "file", url: "data:image/svg+xml;base64,AAAA", mediaType: "image/png", filename: "a.png" },
        { type: "image", url: "data:image/png;base64,AAAA", mediaType: "image/png", name: "b.png" },
      ]),
    );
    expect([...container.querySelectorAll("img")].map((one) => one.alt)).toEqual(["b.png"]);
    expect(screen.getByText("a.png")).toBeTruthy();
  });
});

describe("parts that this release does not know", () => {
  it("are shown as trees", () => {
    show(
      message("assistant", [
        { type: "mystery", a: 1 },
        { type: "foreign", format: "other", value: 2 },
      ]),
    );
    expect(screen.getByText("mystery")).toBeTruthy();
    expect(screen.getByText("part of another format")).toBeTruthy();
  });
});
