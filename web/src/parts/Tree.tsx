import { useBodies } from "../tools/bodyLoader";
import { revealLater, usePartial } from "../ui/reveal";

/** A value as a tree, of which one level is open. It is loaded with the bodies of tool calls. */
export function Tree({ value }: { value: unknown }) {
  const bodies = useBodies(true);
  const loading = usePartial(revealLater);
  return bodies ? <bodies.JsonTree value={value} open={1} /> : <div {...loading} />;
}
