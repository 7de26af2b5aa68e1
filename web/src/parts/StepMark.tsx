import { compact } from "../ui/format";
import type { PartProps } from "./PartView";
import styles from "./StepMark.module.css";

/** The start of a further call of the model. The first step has no mark unless its usage is known. */
export function StepMark({ part, step = 1 }: PartProps) {
  const usage = (part as { usage?: unknown }).usage;
  const facts = usageOf(usage);
  if (step <= 1 && !facts) return null;
  return (
    <div className={styles.step}>
      <span>Step {step}</span>
      {facts && <span>{facts}</span>}
    </div>
  );
}

/** Token counts in compact form; null if there are none. */
export function usageOf(usage: unknown): string | null {
  if (typeof usage !== "object" || usage === null) return null;
  const { inputTokens, outputTokens, totalTokens } = usage as Record<string, unknown>;
  const counts = [
    typeof inputTokens === "number" ? `${compact(inputTokens)} in` : null,
    typeof outputTokens === "number" ? `${compact(outputTokens)} out` : null,
  ].filter(Boolean);
  if (counts.length > 0) return counts.join(" · ");
  return typeof totalTokens === "number" ? `${compact(totalTokens)} tokens` : null;
}
