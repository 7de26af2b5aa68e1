import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronUp } from "lucide-react";
import { useMemo, useRef, useState } from "react";
import { diffRuns, type PartDiff } from "../api/runs";
import { Button } from "../ui/Button";
import { useCommands } from "../ui/commands";
import { Fold } from "../ui/Fold";
import { plural } from "../ui/format";
import { Failure, Loading } from "../ui/States";
import styles from "./Comparison.module.css";
import { Facts } from "./Facts";
import { PartRow } from "./PartRow";
import { rowsOf, summary } from "./rows";
import { partIgnoringWhitespace } from "./wordDiff";

/** The comparison of two runs: facts and parts. */
export function Comparison({ a, b }: { a: string; b: string }) {
  const diff = useQuery({
    queryKey: ["run-diff", a, b],
    queryFn: ({ signal }) => diffRuns(a, b, signal),
  });
  if (diff.error) return <Failure error={diff.error} retry={() => void diff.refetch()} />;
  if (!diff.data) return <Loading what="Comparing" />;
  return (
    <>
      <Facts facts={diff.data.facts} />
      <Parts key={`${a} ${b}`} all={diff.data.parts} />
    </>
  );
}

function Parts({ all }: { all: readonly PartDiff[] }) {
  const [ignoreWhitespace, setIgnoreWhitespace] = useState(false);
  const parts = useMemo(
    () => (ignoreWhitespace ? all.map(partIgnoringWhitespace) : all),
    [all, ignoreWhitespace],
  );
  const rows = useMemo(() => rowsOf(parts), [parts]);
  const count = parts.filter((part) => part.kind !== "same").length;
  const list = useRef<HTMLElement>(null);
  const [current, setCurrent] = useState(-1);
  const jump = (by: 1 | -1) => {
    if (!count) return;
    const next = current < 0 && by < 0 ? count - 1 : (current + by + count) % count;
    setCurrent(next);
    const row = list.current?.querySelector<HTMLElement>(`[data-difference="${next}"]`);
    row?.scrollIntoView({ block: "center" });
    row?.focus({ preventScroll: true });
  };
  useCommands([
    { keys: "]", what: "Next difference", group: "Compare", run: () => jump(1) },
    { keys: "[", what: "Previous difference", group: "Compare", run: () => jump(-1) },
  ]);
  return (
    <section ref={list} aria-labelledby="parts-heading">
      <header className={styles.bar}>
        <h2 id="parts-heading">Parts</h2>
        <p className={styles.summary}>{summary(parts)}</p>
        <label className={styles.whitespace}>
          <input
            type="checkbox"
            checked={ignoreWhitespace}
            onChange={(event) => {
              setIgnoreWhitespace(event.target.checked);
              setCurrent(-1);
            }}
          />
          Ignore whitespace
        </label>
        <div className={styles.jump}>
          <Button
            small
            disabled={!count}
            title="Previous difference ([)"
            icon={<ChevronUp size={14} aria-hidden />}
            onClick={() => jump(-1)}
          >
            Previous
          </Button>
          <Button
            small
            disabled={!count}
            title="Next difference (])"
            icon={<ChevronDown size={14} aria-hidden />}
            onClick={() => jump(1)}
          >
            Next
          </Button>
          <span role="status" className={styles.place}>
            {current < 0 ? plural(count, "difference") : `${current + 1} of ${count}`}
          </span>
        </div>
      </header>
      {count === 0 && <p className={styles.equal}>All parts are equal.</p>}
      <div className={styles.columns} aria-hidden>
        <span>A</span>
        <span>B</span>
      </div>
      {rows.map((row) =>
        row.kind === "difference" ? (
          <PartRow
            key={`difference ${row.difference.number}`}
            part={row.difference.part}
            number={row.difference.number}
          />
        ) : (
          <Fold
            key={`same ${row.first}`}
            className={styles.same}
            head={
              <span>
                = {plural(row.parts.length, "unchanged part")}: {labelsOf(row.parts)}
              </span>
            }
          >
            {row.parts.map((part, index) => (
              <PartRow key={index} part={part} />
            ))}
          </Fold>
        ),
      )}
    </section>
  );
}

const MAX_LABELS = 6;

function labelsOf(parts: readonly PartDiff[]): string {
  const labels = parts.slice(0, MAX_LABELS).map((part) => part.label);
  return labels.join(", ") + (parts.length > MAX_LABELS ? " …" : "");
}
