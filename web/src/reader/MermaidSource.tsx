import { Code } from "../markdown/Code";

/** A diagram by its source: what draws it would be larger than all the rest of a shared file. */
export function Mermaid({ source, closed }: { source: string; closed: boolean }) {
  return <Code text={source} language="mermaid" open={!closed} />;
}
