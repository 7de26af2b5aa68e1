import { useMemo } from "react";
import type { BodyProps } from "./bodies";
import { hasFailed } from "./call";
import { Diff } from "./Diff";
import { CopyOutput, hasOutput, Output, Rest } from "./Output";
import { changesOf } from "./patches";
import { Section } from "./Section";
import { Unknown } from "./Unknown";

/** Files that were changed. */
export function Changes(props: BodyProps) {
  const { call } = props;
  const changes = useMemo(() => changesOf(call), [call]);
  if (!changes.length) return <Unknown {...props} />;
  return (
    <>
      <Diff changes={changes} />
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
