import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { Diff } from "./Diff";
import { GenericCall } from "./GenericCall";
import { CopyOutput, hasOutput, OtherOutput, Output } from "./Output";
import { Section } from "./Section";

/** Changed files. */
export function Changes(props: BodyProps<"edit">) {
  const { call } = props;
  const { changes = [] } = call.view;
  if (!changes.length) return <GenericCall {...props} />;
  return (
    <>
      <Diff part={call.part} changes={changes} />
      {hasFailed(call) && hasOutput(call) ? (
        <Section title="Error" aside={<CopyOutput call={call} />}>
          <Output call={call} label="Error" />
        </Section>
      ) : (
        <OtherOutput call={call} />
      )}
    </>
  );
}
