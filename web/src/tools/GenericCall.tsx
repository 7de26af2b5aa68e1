import type { ToolCallPart } from "../partita.gen";
import { PartialJson } from "../stream/partialJson";
import { CopyButton } from "../ui/CopyButton";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { JsonTree } from "./JsonTree";
import { isObject, parseJson, stringify } from "./json";
import { LongText } from "./LongText";
import { CopyOutput, hasOutput, Output } from "./Output";
import { Section } from "./Section";

/** The input and output of any other tool. */
export function GenericCall({ call }: Pick<BodyProps, "call">) {
  const input = inputOf(call.part);
  const isEmpty = input === undefined || (isObject(input) && !Object.keys(input).length);
  return (
    <>
      {!isEmpty && (
        <Section title="Input" aside={<CopyButton text={() => stringify(input, 2)} label="Copy input" />}>
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

/** The input. An object that is a JSON text, even an incomplete one, is parsed. */
function inputOf({ input, rawInput, state }: ToolCallPart): unknown {
  const text = input ?? rawInput;
  if (typeof text !== "string" || !text.trimStart().startsWith("{")) return text;
  const value = state === "input-streaming" ? new PartialJson(text).value() : parseJson(text);
  return isObject(value) && Object.keys(value).length ? value : text;
}
