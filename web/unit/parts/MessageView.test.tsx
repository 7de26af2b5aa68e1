// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { type RenderContext, RenderProvider } from "../../src/context/renderContext";
import type { Message, Part } from "../../src/partita.gen";
import { bytesOfData, mediaKind, sizeOfData, sourceOf } from "../../src/parts/fileUrls";
import { grouped } from "../../src/parts/MessageBody";
import { Messages } from "../../src/parts/Messages";
import { MessageView } from "../../src/parts/MessageView";

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

const viewing = (more: Partial<RenderContext> = {}): RenderContext => ({
  live: false,
  timing: () => undefined,
  loadBlob: () => Promise.reject(new Error("no")),
  blobHref: (url) => `/blobs/${url.slice(-4)}`,
  linkTo: ({ messageId, path }) => `#${messageId}/${path ?? ""}`,
  Messages,
  ...more,
});

const show = (it: Message, more: Partial<RenderContext> = {}) =>
  render(
    <RenderProvider value={viewing(more)}>
      <MessageView message={it} />
    </RenderProvider>,
  );

const text = (words: string, more: object = {}) => ({ type: "text", text: words, ...more });

describe("a message", () => {
  it("shows the agent, the model and the cost", () => {
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

  it("collapses instructions", () => {
    show(message("system", [text("Be brief.\nAlways.")]));
    expect(drawn.texts).toEqual([]);
    fireEvent.click(screen.getByRole("button", { name: /Be brief/ }));
    expect(drawn.texts).toEqual(["Be brief.\nAlways."]);
  });

  it("is one line if it is an event", () => {
    show(message("user", [text("Model changed")], { type: "event" }));
    expect(screen.queryByRole("heading")).toBeNull();
    expect(screen.getByRole("button", { name: /Model changed/, expanded: false })).toBeTruthy();
  });

  it("shows that it has no content", () => {
    show(message("assistant", []));
    expect(screen.getByText("No content.")).toBeTruthy();
  });

  it("gives every part the id of its permalink", () => {
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

  it("does not render unchanged parts again", () => {
    const first = text("first");
    const { rerender } = show(message("assistant", [first, text("sec")]));
    const stable = viewing();
    rerender(
      <RenderProvider value={stable}>
        <MessageView message={message("assistant", [first, text("second")])} />
      </RenderProvider>,
    );
    drawn.texts.length = 0;
    rerender(
      <RenderProvider value={stable}>
        <MessageView message={message("assistant", [first, text("second!")])} />
      </RenderProvider>,
    );
    expect(drawn.texts).toEqual(["second!"]);
  });

  it("marks steps after the first", () => {
    show(message("assistant", [{ type: "step-start" }, text("a"), { type: "step-start" }, text("b")]));
    expect(screen.queryByText("Step 1")).toBeNull();
    expect(screen.getByText("Step 2")).toBeTruthy();
  });

  it("groups consecutive sources into one row", () => {
    const source = { type: "source-url", sourceId: "s", url: "https://example.org" };
    const groups = grouped(
      [text("a"), source, source, text("b"), source].map(
        (part, at) => [at, part as unknown as Part] as const,
      ),
    );
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

  it("is collapsed when it is done, with its duration and tokens", () => {
    show(message("assistant", [reasoning("hm", { tokenCount: 7 })]), {
      timing: () => ({ startedAt: "2026-01-01T00:00:00Z", endedAt: "2026-01-01T00:00:04.200Z" }),
    });
    expect(screen.getByText("4.2 s · 7 tokens")).toBeTruthy();
    expect(drawn.texts).toEqual([]);
  });

  it("is expanded while it is streaming", () => {
    show(message("assistant", [reasoning("hm", { state: "streaming" })]), { live: true });
    expect(drawn.texts).toEqual(["hm"]);
  });

  it("shows that it is encrypted or not available", () => {
    show(
      message("assistant", [
        reasoning("", { providerMetadata: { anthropic: { redactedData: "x" } } }),
        reasoning(""),
      ]),
    );
    expect(screen.getByText("encrypted by the provider")).toBeTruthy();
    expect(screen.getByText("not available")).toBeTruthy();
  });
});

describe("nested threads", () => {
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
  const list = (messages: readonly Message[], more: Partial<RenderContext> = {}) =>
    render(
      <RenderProvider value={viewing(more)}>
        <Messages messages={messages} place={{ messageId: "m1", path: "2" }} />
      </RenderProvider>,
    );

  it("are not rendered before they are expanded", () => {
    list([nested(1)]);
    expect(drawn.texts).toEqual([]);
    fireEvent.click(screen.getByRole("button", { name: /1 message, 1 call/ }));
    expect(drawn.texts).toEqual(["level 1"]);
  });

  it("are expanded if the address leads into them", () => {
    list([nested(0)], { target: { messageId: "m1", path: "2.children.0.0" } });
    expect(drawn.texts).toEqual(["level 0"]);
    expect(document.getElementById("part-m1-2.children.0.0")).toBeTruthy();
  });

  it("are rendered page by page", () => {
    list(Array.from({ length: 40 }, (_, index) => message("user", [text(`n${index}`)], { id: `n${index}` })));
    fireEvent.click(screen.getByRole("button", { name: /40 messages/ }));
    expect(drawn.texts.length).toBe(30);
    fireEvent.click(screen.getByRole("button", { name: /10 left/ }));
    expect(screen.getByText("n39", { selector: "p" })).toBeTruthy();
  });
});

describe("an iteration of a network", () => {
  it("shows the primitive, the reason and the result", () => {
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
    for (const words of ["Completed:", "sky", "It knows rain.", "iteration 1", "Oslo?", "wet", "1 message"])
      expect(screen.getByText(words, { exact: false })).toBeTruthy();
  });

  it.each([
    ["shows a failure", { error: "no ink" }, "Failed:", "no ink"],
    ["shows an interruption", { interrupted: "lost" }, "Failed:", "interrupted: lost"],
    ["shows that it is running", {}, "Running:", "1 message"],
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
  ])("of type %s are displayed as %s", (type, wanted) => {
    expect(mediaKind(type)).toBe(wanted);
  });

  it.each([
    ["data:text/plain;base64,aGFsbG8=", { kind: "local", href: "data:text/plain;base64,aGFsbG8=", size: 5 }],
    ["blob:sha256:abcd", { kind: "local", href: "/blobs/abcd" }],
    ["https://example.org/a", { kind: "remote", href: "https://example.org/a", host: "example.org" }],
    ["javascript:alert(1)", { kind: "none" }],
    ["blob:https://example.org/x", { kind: "none" }],
    ["file:///etc/passwd", { kind: "none" }],
  ])("at %s are classified", (url, wanted) => {
    expect(sourceOf(url, viewing().blobHref)).toEqual(wanted);
  });

  it("in a data: URL are decoded", () => {
    expect(new TextDecoder().decode(bytesOfData("data:text/plain;base64,aGFsbG8="))).toBe("hallo");
    expect(new TextDecoder().decode(bytesOfData("data:text/plain,ha%20llo"))).toBe("ha llo");
    expect(sizeOfData("data:text/plain,abc")).toBe(3);
  });

  it("with contradictory media types are not displayed", () => {
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

describe("parts of unknown types", () => {
  it("are displayed as trees", () => {
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
