import { CopyButton } from "../ui/CopyButton";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { JsonTree } from "./JsonTree";
import { written } from "./json";
import { LongText } from "./LongText";
import { CopyOutput, hasOutput, Output } from "./Output";
import { Section } from "./Section";

/** A tool that nobody knows: what it was given, and what it gave. */
export function Unknown({ call }: BodyProps) {
  const given = call.words || call.input;
  const hasInput = call.words !== "" || Object.keys(call.input).length > 0;
  const other = call.part.input ?? call.part.rawInput;
  return (
    <>
      {(hasInput || other !== undefined) && (
        <Section
          title="Input"
          aside={<CopyButton text={() => written(hasInput ? given : other, 2)} label="Copy input" />}
        >
          {call.words ? (
            <LongText text={call.words} label="Input" />
          ) : (
            <JsonTree value={hasInput ? call.input : other} label="Input" />
          )}
        </Section>
      )}
      {hasOutput(call) && (
        <Section title={hasFailed(call) ? "Error" : "Output"} aside={<CopyOutput call={call} />}>
          <Output call={call} />
        </Section>
      )}
    </>
  );
}
