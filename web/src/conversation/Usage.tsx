import type { UsageTotals } from "../api/messages";
import { Dialog } from "../ui/Dialog";
import { count, money } from "../ui/format";
import styles from "./Usage.module.css";

/** What the responses of a session consumed. */
export function Usage({ usage, onClose }: { usage: UsageTotals; onClose: () => void }) {
  const rows: readonly (readonly [string, string])[] = [
    ["Responses", count(usage.responses)],
    ["Input tokens", count(usage.inputTokens)],
    ["of these from the cache", count(usage.cachedInputTokens)],
    ["written to the cache", count(usage.cacheWriteTokens)],
    ["Output tokens", count(usage.outputTokens)],
    ["of these for reasoning", count(usage.reasoningTokens)],
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
