// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, within } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import type { Message } from "../../src/partita.gen";
import { Reader } from "../../src/reader/Reader";
import { Transcript } from "../../src/reader/Transcript";
import { loadBodies } from "../../src/tools/bodyLoader";

beforeEach(() => void vi.spyOn(console, "error").mockImplementation(() => {})); // React reports what is contained
afterEach(() => {
  cleanup();
  vi.restoreAllMocks();
});

const message = (id: string, content: unknown, more: object = {}): Message =>
  ({ id, role: "assistant", type: "text", content, ...more }) as unknown as Message;
const textMessage = (id: string, text: string): Message =>
  message(id, { format: 2, parts: [{ type: "text", text }] });
const call = (more: object): Message =>
  message("odd", { format: 2, parts: [{ type: "tool-call", id: "c", name: "Bash", ...more }] });

const BROKEN: Readonly<Record<string, unknown>> = {
  "no message": null,
  "no content": message("odd", null),
  "no parts": message("odd", { format: 2 }),
  "a part that is null": message("odd", { format: 2, parts: [null] }),
  "a text without text": message("odd", { format: 2, parts: [{ type: "text" }] }),
  "reasoning that is a number": message("odd", { format: 2, parts: [{ type: "reasoning", text: 7 }] }),
  "an event whose parts are an object": message("odd", { format: 2, parts: {} }, { type: "event" }),
  "an output of another shape": call({ state: "output-error", input: {}, output: { type: "content" } }),
};

const shown = (messages: readonly unknown[]) =>
  render(<Transcript messages={messages as Message[]} label="The conversation" />);

beforeAll(loadBodies);

describe("a message that cannot be displayed", () => {
  it.each(Object.entries(BROKEN))("shows its error and its JSON beside the others: %s", (_, broken) => {
    shown([textMessage("a", "before"), broken, textMessage("b", "after")]);
    expect(screen.getByText("before")).toBeTruthy();
    expect(screen.getByText("after")).toBeTruthy();
    const notice = screen.getByRole("article", { name: "Message that cannot be displayed" });
    expect(notice.textContent).toMatch(/TypeError|Cannot read|is not/);
    fireEvent.click(within(notice).getByRole("button", { name: "Raw JSON" }));
    expect(notice.textContent).toContain(broken === null ? "null" : '"id": "odd"');
  });

  it("is contained within the message of a sub-agent", () => {
    const children = [
      textMessage("k1", "child before"),
      BROKEN["a text without text"],
      textMessage("k3", "child after"),
    ];
    shown([call({ name: "Task", state: "output-available", input: { prompt: "look" }, children })]);
    fireEvent.click(screen.getByRole("button", { name: /Task/, expanded: false }));
    expect(screen.getByText("child after")).toBeTruthy();
    expect(screen.getAllByRole("article", { name: "Message that cannot be displayed" })).toHaveLength(1);
  });

  it("is displayed when it has been repaired", () => {
    const { rerender } = shown([message("odd", null)]);
    rerender(<Transcript messages={[textMessage("odd", "repaired")]} label="The conversation" />);
    expect(screen.getByText("repaired")).toBeTruthy();
    expect(screen.queryByText("This message cannot be displayed")).toBeNull();
  });
});

describe("a shared file", () => {
  it("shows an error if its head cannot be displayed", () => {
    const data = document.createElement("script");
    data.type = "application/json";
    data.id = "partita";
    data.textContent = JSON.stringify({
      thread: { id: "t", title: "t", createdAt: {} },
      messages: [textMessage("a", "words")],
    });
    document.body.append(data);
    render(<Reader index={null} />);
    data.remove();
    expect(screen.getByRole("alert").textContent).not.toBe("");
  });
});
