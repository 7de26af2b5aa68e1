import { Markdown } from "../markdown/Markdown";
import { CopyButton } from "../ui/CopyButton";
import type { BodyProps } from "./bodies";
import { hasFailed, textOf } from "./call";
import { GenericCall } from "./GenericCall";
import { hasOutput, Output } from "./Output";
import { Section } from "./Section";

/** A plan that the agent presented to the user. */
export function Plan(props: BodyProps<"plan">) {
  const { call, isBusy } = props;
  const plan = textOf(call.part, call.view.plan);
  if (!plan) return <GenericCall {...props} />;
  return (
    <>
      <Section title="Plan" aside={<CopyButton text={plan} label="Copy plan" />}>
        <Markdown text={plan} live={isBusy} />
      </Section>
      {hasFailed(call) && hasOutput(call) && <Output call={call} label="Error" />}
    </>
  );
}
