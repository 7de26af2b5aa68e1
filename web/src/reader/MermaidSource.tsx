import { Code } from "../markdown/Code";

/** Shows the source of a diagram. The renderer would be larger than the rest of a shared file. */
export function Mermaid({ source, closed }: { source: string; closed: boolean }) {
  return <Code text={source} language="mermaid" open={!closed} />;
}
