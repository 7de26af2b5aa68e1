import { useState } from "react";
import type { Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart } from "../partita.gen";
import { stringify } from "../tools/json";
import { Section } from "../tools/Section";
import { findItem, revealLater, usePartial } from "../ui/reveal";
import { Tree } from "./Tree";

/**
 * The stored text of a part, shown below the part when a word is sought that its view leaves out: an unchanged line of
 * an edit, a parameter, the address of a link.
 */
export function HiddenText({ part }: { part: Part }) {
  const [isShown, setShown] = useState(false);
  const value = isShown ? textsOf(part) : null;
  const area = usePartial(
    isShown
      ? null
      : (wanted) => {
          const found = findItem([stringify(textsOf(part) ?? "")], { ...wanted, number: 0 });
          if (typeof found === "number") return { type: "missing", total: 0 };
          setShown(true);
          return revealLater();
        },
    "last",
  );
  return (
    <div hidden={!value} {...area}>
      {value && (
        <Section title="As stored">
          <Tree value={value} />
        </Section>
      )}
    </div>
  );
}

/** The texts of a part that are searched. Null if its view shows all of them. */
function textsOf(part: Part): Readonly<Record<string, unknown>> | null {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { text: (part as TextPart | ReasoningPart).text };
    case "tool-call": {
      const { title, input, rawInput, output } = part as ToolCallPart;
      return present({ title, input: input ?? rawInput, output: outputOf(output) });
    }
    case "tool-result":
      return present({ output: outputOf((part as ToolResultPart).output) });
    default:
      return null;
  }
}

const outputOf = (output: object | undefined): unknown =>
  output && ("value" in output ? output.value : output);

const present = (texts: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined));
