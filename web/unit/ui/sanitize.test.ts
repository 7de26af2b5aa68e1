import { describe, expect, it } from "vitest";
import { safeHref, visible } from "../../src/ui/sanitize";

describe("untrusted text", () => {
  it.each([
    ["a bidi override", "user\u202Etxt.exe", "user⟦U+202E⟧txt.exe"],
    ["an isolate", "a\u2066b\u2069", "a⟦U+2066⟧b⟦U+2069⟧"],
    ["a zero-width space", "pay\u200Bpal", "pay⟦U+200B⟧pal"],
    ["a joiner between Latin letters", "a\u200Db", "a⟦U+200D⟧b"],
    ["a byte order mark", "\uFEFFhead", "⟦U+FEFF⟧head"],
    ["an escape", "\x1B[31mred", "⟦U+001B⟧[31mred"],
    ["a bell and a null", "\x07\x00", "⟦U+0007⟧⟦U+0000⟧"],
    ["a lone carriage return", "real\rfake", "real⟦U+000D⟧fake"],
    ["a soft hyphen", "in\u00ADvisible", "in⟦U+00AD⟧visible"],
    ["tag characters", "hi\u{E0069}\u{E0067}", "hi⟦U+E0069⟧⟦U+E0067⟧"],
    ["consecutive variation selectors", "a\uFE0F\uFE0E", "a\uFE0F⟦U+FE0E⟧"],
    ["a lone surrogate", "\uD800x", "⟦U+D800⟧x"],
    ["a line separator", "a\u2028b", "a⟦U+2028⟧b"],
    ["a filler", "\u3164", "⟦U+3164⟧"],
    ["a direction mark among Latin letters", "abc\u200Edef", "abc⟦U+200E⟧def"],
  ])("makes %s visible", (_, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it.each([
    "plain text\twith a tab\nand lines\r\nof both kinds",
    "é ü ß 日本語 한국어 ½ – “quoted” …",
    "👨‍👩‍👧 ❤️ 1️⃣ 👩🏽‍🚀 👩‍⚕️ 🏳️‍🌈 🧑‍🤝‍🧑 ❤️‍🔥",
    "\u{1F3F4}\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "שלום עולם, مرحبا بالعالم",
    "עברית\u200F (abc)",
    "می‌خواهم",
    "क्‍ष",
    "葛\u{E0100}",
    "⠋⠙⠹ ▓▒░ │├──",
  ])("leaves ordinary text unchanged: %s", (text) => {
    expect(visible(text)).toBe(text);
  });
});

describe("untrusted URLs", () => {
  it.each([
    ["https://example.org/a?b#c", "https://example.org/a?b#c"],
    ["HTTP://EXAMPLE.org", "http://example.org/"],
    ["mailto:someone@example.org", "mailto:someone@example.org"],
    ["javascript:alert(1)", null],
    [" java\nscript:alert(1)", null],
    ["data:text/html,<script>", null],
    ["vbscript:x", null],
    ["file:///etc/passwd", null],
    ["blob:https://example.org/1", null],
    ["//example.org", null],
    ["page.html", null],
    ["", null],
  ])("%s is normalized to %s", (url, href) => {
    expect(safeHref(url)).toBe(href);
  });
});
