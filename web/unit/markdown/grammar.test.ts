import { describe, expect, it } from "vitest";
import { NO_BLOCKS, splitBlocks, withoutAmbiguousEnd } from "../../src/markdown/blocks";
import { lexBlock, MAX_BLOCK } from "../../src/markdown/grammar";

interface Loose {
  readonly type: string;
  readonly text?: string;
  readonly tokens?: readonly Loose[];
}

function found(source: string, type: string): string[] {
  const all: string[] = [];
  const walk = (tokens: readonly Loose[]): void => {
    for (const token of tokens) {
      if (token.type === type) all.push(token.text ?? "");
      if (token.tokens) walk(token.tokens);
    }
  };
  walk(lexBlock(source, {}) as readonly Loose[]);
  return all;
}

describe("maths", () => {
  it.each([
    ["the area is $\\pi r^2$ here", ["\\pi r^2"]],
    ["$x$", ["x"]],
    ["$2x + 1 = 5$", ["2x + 1 = 5"]],
    ["an $n$-gon, $k$.", ["n", "k"]],
    ["\\(a+b\\) and \\[c\\]", ["a+b", "c"]],
    ["$$\\sum_i x_i$$", ["\\sum_i x_i"]],
    ["so $$x$$ is", ["x"]],
    ["$$\nx = 1\n$$\n", ["x = 1"]],
    ["\\[\n  y\n\\]", ["y"]],
  ])("%s", (source, wanted) => {
    expect(found(source, "maths")).toEqual(wanted);
  });

  it.each([
    "it costs $5 and $10",
    "from $5 to $10, or $5-$10",
    "$5/month vs $20/month",
    "US$20 and CA$30",
    "$HOME/$USER and $PATH",
    "echo $1 $2",
    "a \\$5 note, a \\$6 note",
    "`$x$`",
    "$ x $",
    "$3 million (not 4$)",
    "$100$50",
  ])("is not found in: %s", (source) => {
    expect(found(source, "maths")).toEqual([]);
  });
});

const LONG = `# Title

Some *words* with a [reference] and \`code\`.

- one
- two

  still two

1. first
   \`\`\`py
   x = 1
   \`\`\`

| a | b |
|---|---|
| 1 | 2 |

> quoted
> more
lazy

Foo
---

\`\`\`js
const a = "\`";
\`\`\`
\`\`\`a\`b

$$
x
$$

<div>
markup
</div>

    indented

[reference]: https://example.org "t"
Last $x$ words[^1].

[^1]: a note
`;

describe("blocks", () => {
  it("equal the text when they are joined", () => {
    expect(splitBlocks(LONG).sources.join("")).toBe(LONG);
  });

  it("are the same if the text arrives character by character", () => {
    let now = NO_BLOCKS;
    for (let end = 1; end <= LONG.length; end += 1) {
      const text = LONG.slice(0, end);
      now = splitBlocks(text, now);
      expect(now.sources, JSON.stringify(text.slice(-30))).toEqual(splitBlocks(text).sources);
    }
    expect(Object.keys(now.links)).toEqual(["reference"]);
  });

  it("are parsed again if the text is replaced", () => {
    expect(splitBlocks("b\n\nc", splitBlocks("a\n\nb\n\nc")).sources).toEqual(["b", "\n\n", "c"]);
  });
});

describe("an ambiguous last line is removed", () => {
  it.each([
    ["words\n-", "words\n"],
    ["words\n---", "words\n"],
    ["words\n``", "words\n"],
    ["words\n- a", "words\n- a"],
    ["words - ", "words - "],
    ["```\ncode\n```", "```\ncode\n```"],
  ])("%j", (text, wanted) => {
    expect(withoutAmbiguousEnd(text)).toBe(wanted);
  });
});

/** Characters that a lexer may scan repeatedly, up to the length limit. */
const wide = (text: string, length: number): string =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length);

describe("adversarial sources", () => {
  it.each([
    ["quotes", `${">".repeat(5000)} deep`],
    ["quotes with spaces", `${"> ".repeat(5000)}deep`],
    ["lists in a line", `${"- ".repeat(5000)}deep`],
    ["lists below each other", Array.from({ length: 600 }, (_, at) => `${"  ".repeat(at)}- x`).join("\n")],
    ["brackets", wide("[", 10_000)],
    ["links", wide("[a](", 10_000)],
    ["pictures", wide("![", 10_000)],
    ["stars", wide("*", 10_000)],
    ["emphasis", wide("*a _b ", 10_000)],
    ["strong", wide("**a", 10_000)],
    ["ticks", wide("`a``", 10_000)],
    ["tags", wide("<a ", 10_000)],
    ["comments", wide("<!--", 10_000)],
    ["dollars", wide("$a ", 10_000)],
    ["dollar signs", wide("$", 10_000)],
    ["maths brackets", wide("\\(", 10_000)],
    ["squares", wide("\\[", 10_000)],
    ["bars", wide("|", 10_000)],
    ["cells", `${wide("|a", 20_000)}\n${wide("|-", 20_000)}`],
    ["mails", wide("a@b.", 10_000)],
    ["addresses", wide("http://", 10_000)],
    ["tildes", wide("~~a~", 10_000)],
    ["backslashes", wide("\\", 10_000)],
    ["entities", wide("&#", 10_000)],
    ["definitions", wide("[a]: b\n", MAX_BLOCK)],
    ["footnotes", wide("[^a]: b\n", MAX_BLOCK)],
    ["one word", wide("a", MAX_BLOCK * 3)],
  ])("do not exhaust stack or time: %s", (_, source) => {
    expect(splitBlocks(source).sources.join("")).toBe(source);
    expect(lexBlock(source, {}).length).toBeGreaterThan(0);
  });
});
