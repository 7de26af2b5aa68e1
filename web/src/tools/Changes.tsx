import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { Diff } from "./Diff";
import { CopyOutput, hasOutput, Output, Rest } from "./Output";
import { Section } from "./Section";
import { Unknown } from "./Unknown";

/** Files that were changed. */
export function Changes(props: BodyProps<"edit">) {
  const { call } = props;
  const { changes = [] } = call.view;
  if (!changes.length) return <Unknown {...props} />;
  return (
    <>
      <Diff part={call.part} changes={changes} />
      {hasFailed(call) && hasOutput(call) ? (
        <Section title="Error" aside={<CopyOutput call={call} />}>
          <Output call={call} label="Error" />
        </Section>
      ) : (
        <Rest call={call} />
      )}
    </>
  );
}
