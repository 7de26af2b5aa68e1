// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, describe, expect, it } from "vitest";
import { readIndex, readThread } from "../../src/reader/data";
import { Reader } from "../../src/reader/Reader";

function addData(id: string, text: string): void {
  const element = document.createElement("script");
  element.type = "application/json";
  element.id = id;
  element.textContent = text;
  document.body.append(element);
}

const thread = (id: string, title: string) => ({ id, title, agent: "keeper" });
const messages = (text: string) => [
  { id: "m", role: "user", content: { format: 2, parts: [{ type: "text", text }] } },
];

function addSeveral(): void {
  const [one, two] = [thread("a", "The lamp"), thread("b", "The tide")];
  addData("thread-1", JSON.stringify({ thread: one, messages: messages("Light it."), views: [{}] }));
  addData("thread-2", JSON.stringify({ thread: two, messages: messages("How high?"), views: [{}] }));
  const threads = [
    { thread: one, messages: 1, element: "thread-1" },
    { thread: two, messages: 1, element: "thread-2" },
  ];
  addData("partita", JSON.stringify({ threads }));
}

const goTo = (hash: string): void =>
  act(() => {
    window.location.hash = hash;
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  });

afterEach(() => {
  cleanup();
  document.body.replaceChildren();
  window.location.hash = "";
});

describe("the data of a shared file", () => {
  it("is a thread, or null if it is damaged", () => {
    addData("partita", '{"thread":{"id":"t"},"messages":[]}');
    expect(readIndex()).toBeNull();
    expect(readThread()?.facts).toEqual({});
    for (const [number, text] of ["", "{", "[]", "null", '{"messages":1,"thread":{}}'].entries()) {
      addData(`damaged-${number}`, text);
      expect(readThread(`damaged-${number}`)).toBeNull();
    }
  });
});

describe("a file with several threads", () => {
  it("has an index with links, and a link back from each conversation", async () => {
    addSeveral();
    render(<Reader index={readIndex()} />);
    expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("2 sessions");
    const link = screen.getByRole("link", { name: /The tide.*keeper · 1 message/ });
    expect(link.getAttribute("href")).toBe("#thread-2");
    goTo("thread-2");
    expect(screen.getByRole("heading", { level: 1 }).textContent).toBe("The tide");
    expect(document.title).toBe("The tide");
    expect(await screen.findByText("How high?")).toBeTruthy();
    const back = screen.getByRole("link", { name: "All sessions" });
    fireEvent.click(back);
    goTo(new URL((back as HTMLAnchorElement).href).hash);
    expect(screen.getByRole("link", { name: /The lamp/ })).toBeTruthy();
  });
});
