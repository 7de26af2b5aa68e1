import type { ToolCallPart } from "../partita.gen";
import { PartialJson } from "../stream/partial_json";
import { CopyButton } from "../ui/CopyButton";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { JsonTree } from "./JsonTree";
import { isObject, parsed, written } from "./json";
import { LongText } from "./LongText";
import { CopyOutput, hasOutput, Output } from "./Output";
import { Section } from "./Section";

/** Any other tool: its input and its output. */
export function Unknown({ call }: Pick<BodyProps, "call">) {
  const input = inputOf(call.part);
  return (
    <>
      {input !== undefined && (
        <Section title="Input" aside={<CopyButton text={() => written(input, 2)} label="Copy input" />}>
          {typeof input === "string" && input ? (
            <LongText text={input} label="Input" />
          ) : (
            <JsonTree value={input} label="Input" />
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

/** The input; an object that came as text, even as the first part of a text, as an object. */
function inputOf({ input, rawInput, state }: ToolCallPart): unknown {
  const given = input ?? rawInput;
  if (typeof given !== "string" || !given.trimStart().startsWith("{")) return given;
  const value = state === "input-streaming" ? new PartialJson(given).value() : parsed(given);
  return isObject(value) && Object.keys(value).length ? value : given;
}
