import { useBodies } from "../tools/bodyLoader";

/** A value as a tree, of which one level is open. It is loaded with the bodies of tool calls. */
export function Tree({ value }: { value: unknown }) {
  const bodies = useBodies(true);
  return bodies && <bodies.JsonTree value={value} open={1} />;
}
