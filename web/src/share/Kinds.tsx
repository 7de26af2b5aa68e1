import { useDeferredValue, useEffect, useState } from "react";
import type { SharePreview } from "../api/share";
import { Fold } from "../ui/Fold";
import type { Options } from "./options";
import styles from "./ShareDialog.module.css";

interface Props {
  readonly options: Options;
  readonly kinds: SharePreview["kinds"];
  readonly onChange: (changes: Partial<Options>) => void;
}

/** Which secrets are looked for. */
export function Kinds({ options, kinds, onChange }: Props) {
  const wanted = options.kinds ?? kinds.filter((kind) => kind.wanted).map((kind) => kind.name);
  const toggle = (name: string, isWanted: boolean) =>
    onChange({ kinds: isWanted ? [...wanted, name] : wanted.filter((one) => one !== name) });
  const usual = kinds.filter((kind) => kind.wanted);
  const others = kinds.filter((kind) => !kind.wanted);
  const box = (kind: SharePreview["kinds"][number]) => (
    <label key={kind.name} className={styles.check}>
      <input
        type="checkbox"
        checked={wanted.includes(kind.name)}
        onChange={(event) => toggle(kind.name, event.target.checked)}
      />
      {kind.what}
    </label>
  );
  return (
    <fieldset className={styles.group}>
      <legend>Replaced by marks</legend>
      <Fold
        head={`${usual.filter((kind) => wanted.includes(kind.name)).length} of ${usual.length} kinds of keys, tokens and passwords`}
      >
        <div className={styles.checks}>{usual.map(box)}</div>
      </Fold>
      {others.map(box)}
      <Custom text={options.custom} onChange={(custom) => onChange({ custom })} />
    </fieldset>
  );
}

/** Other words; they count once nobody has written for a moment. */
function Custom({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [written, setWritten] = useState(text);
  const settled = useDeferredValue(written);
  useEffect(() => {
    if (settled === text) return;
    const timer = setTimeout(() => onChange(settled), 400);
    return () => clearTimeout(timer);
  }, [settled, text, onChange]);
  return (
    <label className={styles.custom}>
      Other words, one a line; a pattern between slashes: <code>/CUST-\d+/</code>
      <textarea
        rows={2}
        value={written}
        spellCheck={false}
        onChange={(event) => setWritten(event.target.value)}
      />
    </label>
  );
}
