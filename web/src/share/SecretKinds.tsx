import { useDeferredValue, useEffect, useState } from "react";
import type { SharePreview } from "../api/share";
import { Fold } from "../ui/Fold";
import { capitalized } from "../ui/format";
import type { Options } from "./options";
import styles from "./ShareDialog.module.css";

interface Props {
  readonly options: Options;
  readonly kinds: SharePreview["kinds"];
  readonly onChange: (changes: Partial<Options>) => void;
}

/** Selects which kinds of secrets are redacted. */
export function SecretKinds({ options, kinds, onChange }: Props) {
  const wanted = options.kinds ?? kinds.filter((kind) => kind.wanted).map((kind) => kind.name);
  const toggle = (name: string, isWanted: boolean) =>
    onChange({ kinds: isWanted ? [...wanted, name] : wanted.filter((one) => one !== name) });
  const defaults = kinds.filter((kind) => kind.wanted);
  const others = kinds.filter((kind) => !kind.wanted);
  const box = (kind: SharePreview["kinds"][number]) => (
    <label key={kind.name} className={styles.check}>
      <input
        type="checkbox"
        checked={wanted.includes(kind.name)}
        onChange={(event) => toggle(kind.name, event.target.checked)}
      />
      {capitalized(kind.what)}
    </label>
  );
  return (
    <fieldset className={styles.group}>
      <legend>Redacted</legend>
      {kinds.length > 0 && (
        <Fold
          head={`${defaults.filter((kind) => wanted.includes(kind.name)).length} of ${defaults.length} kinds of keys, tokens and passwords`}
        >
          <div className={styles.checks}>{defaults.map(box)}</div>
        </Fold>
      )}
      {others.map(box)}
      <Custom text={options.custom} onChange={(custom) => onChange({ custom })} />
    </fieldset>
  );
}

/** Additional texts to redact. Changes are applied when the user pauses typing. */
function Custom({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const [input, setInput] = useState(text);
  const settled = useDeferredValue(input);
  useEffect(() => {
    if (settled === text) return;
    const timer = setTimeout(() => onChange(settled), 400);
    return () => clearTimeout(timer);
  }, [settled, text, onChange]);
  return (
    <label className={styles.custom}>
      Other texts to redact, one per line. Write a pattern between slashes: <code>/CUST-\d+/</code>
      <textarea
        rows={2}
        value={input}
        spellCheck={false}
        onChange={(event) => setInput(event.target.value)}
      />
    </label>
  );
}
