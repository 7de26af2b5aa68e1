import { describe, expect, it } from "vitest";
import { plainSnippet } from "../../src/threads/snippet";
import { splitHighlights } from "../../src/ui/Highlighted";

/** A passage with its matches in « ». */
function plain(marked: string): string {
  const points = Array.from(marked);
  const highlights: [number, number][] = [];
  let length = 0;
  let start = 0;
  for (const point of points) {
    if (point === "«") start = length;
    else if (point === "»") highlights.push([start, length]);
    else length++;
  }
  const snippet = plainSnippet(marked.replace(/[«»]/g, ""), highlights);
  return splitHighlights(snippet.text, snippet.highlights)
    .map(({ text, isMatch }) => (isMatch ? `«${text}»` : text))
    .join("");
}

describe("a passage is plain text", () => {
  it.each([
    ["a **bold** «lamp» and `code`", "a bold «lamp» and code"],
    ["see [the «lamp»](https://x.example/y) here", "see the «lamp» here"],
    ["see [the file](src/«lamp».go) here", "see the file (src/«lamp».go) here"],
    ["## Heading\n> quote\n- item «one»", "Heading quote item «one»"],
    ['{\\n  \\"«key»\\": \\"a\\tb\\"\\n}', '{ "«key»": "a b" }'],
    ["\u001b[31mred «lamp»\u001b[0m", "red «lamp»"],
    ["\\u001b[1mbold\\u001b[0m «x»", "bold «x»"],
    ["in\\_progress «x»", "in_progress «x»"],
    ["🌫️ **«fog»** 🌫️", "🌫️ «fog» 🌫️"],
    ["a * b «*» c", "a b «*» c"],
    ["5 - 3 and «C#»", "5 - 3 and «C#»"],
    ["computed ### Modern «lamp» ## End", "computed Modern «lamp» End"],
    ["| battery | «lamp» | | --- | :-: | | on", "| battery | «lamp» on"],
    ["…no  marks\n\n«here»…", "…no marks «here»…"],
  ])("%s", (marked, expected) => {
    expect(plain(marked)).toBe(expected);
  });
});
