import styles from "./Plot.module.css";
import { linear } from "./scale";

/** A small line chart without labels. */
export function Sparkline({ values }: { values: readonly number[] }) {
  if (values.length < 2) return null;
  const x = linear([0, values.length - 1], [1, 99]);
  const y = linear([0, Math.max(...values) || 1], [23, 2]);
  const path = values.map(
    (value, index) => `${index ? "L" : "M"}${x(index).toFixed(1)} ${y(value).toFixed(1)}`,
  );
  return (
    <svg viewBox="0 0 100 24" preserveAspectRatio="none" width="100%" height={24} aria-hidden>
      <path className={styles.spark} d={path.join("")} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
