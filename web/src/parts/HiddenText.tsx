import { useState } from "react";
import type { Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart } from "../partita.gen";
import { stringify } from "../tools/json";
import { Section } from "../tools/Section";
import { findItem, revealLater, usePartial } from "../ui/reveal";
import { Tree } from "./Tree";

type Texts = Readonly<Record<string, unknown>>;

/** The texts of a part that are searched, by its type. Views of other parts show all of them. */
const TEXTS: Readonly<Record<string, (part: Part) => Texts>> = {
  text: (part) => ({ text: (part as TextPart).text }),
  reasoning: (part) => ({ text: (part as ReasoningPart).text }),
  "tool-call": (part) => {
    const { title, input, rawInput, output } = part as ToolCallPart;
    return present({ title, input: input ?? rawInput, output: outputOf(output) });
  },
  "tool-result": (part) => present({ output: outputOf((part as ToolResultPart).output) }),
};

/**
 * The stored text of a part, shown below the part when a word is sought that its view leaves out: an unchanged line of
 * an edit, a parameter, the address of a link.
 */
export function HiddenText({ part }: { part: Part }) {
  const textsOf = TEXTS[part.type];
  return textsOf ? <StoredText texts={() => textsOf(part)} /> : null; // a part without content takes no space
}

function StoredText({ texts }: { texts: () => Texts }) {
  const [isShown, setShown] = useState(false);
  const area = usePartial(
    isShown
      ? null
      : (wanted) => {
          const found = findItem([stringify(texts())], { ...wanted, number: 0 });
          if (typeof found === "number") return { type: "missing", total: 0 };
          setShown(true);
          return revealLater();
        },
    "last",
  );
  return (
    <div hidden={!isShown} {...area}>
      {isShown && (
        <Section title="As stored">
          <Tree value={texts()} />
        </Section>
      )}
    </div>
  );
}

const outputOf = (output: object | undefined): unknown =>
  output && ("value" in output ? output.value : output);

const present = (texts: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined));
