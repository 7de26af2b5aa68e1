import type { UsageTotals } from "../api/messages";
import { Dialog } from "../ui/Dialog";
import { count, money } from "../ui/format";
import styles from "./Usage.module.css";

/** The token counts and cost of a session. */
export function Usage({ usage, onClose }: { usage: UsageTotals; onClose: () => void }) {
  const rows: readonly (readonly [string, string])[] = [
    ["Responses", count(usage.responses)],
    ["Input tokens", count(usage.inputTokens)],
    ["Input tokens read from cache", count(usage.cachedInputTokens)],
    ["Input tokens written to cache", count(usage.cacheWriteTokens)],
    ["Output tokens", count(usage.outputTokens)],
    ["Reasoning tokens", count(usage.reasoningTokens)],
    ["Cost", usage.cost == null ? "unknown" : money(usage.cost)],
    ...(usage.unpriced ? ([["Responses without a price", count(usage.unpriced)]] as const) : []),
  ];
  return (
    <Dialog title="Usage of this session" onClose={onClose}>
      <dl className={styles.usage}>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
