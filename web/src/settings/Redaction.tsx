import { useState } from "react";
import type { RedactedKind } from "../api/settings";
import { Button } from "../ui/Button";
import { Fold } from "../ui/Fold";
import { plural } from "../ui/format";
import { Failure, Loading } from "../ui/States";
import { textOf } from "./AddFolder";
import { FileNote } from "./FileNote";
import { useChangeSettings, useChoice, useRedaction, useServerSetting, useServerSettings } from "./queries";
import styles from "./Redaction.module.css";
import { RedactionTest } from "./RedactionTest";

/** What exports and shared files leave out by default. */
export function Redaction() {
  const kinds = useRedaction();
  const settings = useServerSettings();
  const failed = kinds.error ?? settings.error;
  if (failed) return <Failure error={failed} retry={() => void kinds.refetch()} />;
  if (!kinds.data || !settings.data) return <Loading />;
  return (
    <div className={styles.redaction}>
      <p className={styles.note}>
        Exports, shared files and test fixtures have placeholders instead of secrets. Stored sessions do not
        change.
      </p>
      <Kinds kinds={kinds.data.items} />
      <OwnTexts />
      <FileNote file={settings.data.file} />
    </div>
  );
}

/** The kinds of secrets: those that are always replaced, and those that the user chooses. */
function Kinds({ kinds }: { kinds: readonly RedactedKind[] }) {
  const setting = useServerSetting("export.secrets");
  const { chosen, choose, error } = useChoice("export.secrets", setting?.value ?? []);
  const always = kinds.filter((one) => one.isAlways);
  const toggle = (name: string, isWanted: boolean) => {
    const next = isWanted ? [...chosen, name] : chosen.filter((one) => one !== name);
    choose(next, next.length ? next : null);
  };
  return (
    <section className={styles.section} aria-labelledby="kinds">
      <h2 id="kinds">Kinds of secrets</h2>
      <Fold head={`Always: ${plural(always.length, "kind")} of keys, tokens and passwords`}>
        <ul className={styles.always}>
          {always.map((kind) => (
            <li key={kind.name}>{kind.what}</li>
          ))}
        </ul>
      </Fold>
      {setting?.isReadOnly && <p className={styles.note}>Set by {setting.sourceName}; change it there.</p>}
      <fieldset className={styles.kinds} disabled={setting?.isReadOnly}>
        <legend className="visually-hidden">Also replace</legend>
        {kinds
          .filter((one) => !one.isAlways)
          .map((kind) => (
            <label key={kind.name}>
              <input
                type="checkbox"
                checked={chosen.includes(kind.name)}
                onChange={(event) => toggle(kind.name, event.target.checked)}
              />
              Also {kind.what}
            </label>
          ))}
      </fieldset>
      {error && (
        <p role="alert" className={styles.error}>
          {textOf(error)}
        </p>
      )}
    </section>
  );
}

/** The texts and patterns of the user, with a field to try them. */
function OwnTexts() {
  const setting = useServerSetting("export.replace");
  const change = useChangeSettings();
  const stored = (setting?.value ?? []).join("\n");
  const [draft, setDraft] = useState(stored);
  const texts = draft
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  return (
    <section className={styles.section} aria-labelledby="texts">
      <h2 id="texts">Other texts</h2>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          change.mutate({ "export.replace": texts.length ? texts : null });
        }}
      >
        <label htmlFor="own-texts">One per line. A pattern is between slashes.</label>
        <textarea
          id="own-texts"
          rows={4}
          spellCheck={false}
          placeholder={"Ada Lovelace\n/CUST-[0-9]+/"}
          value={draft}
          readOnly={setting?.isReadOnly}
          aria-invalid={change.error !== null}
          aria-describedby={change.error ? "own-texts-error" : undefined}
          onChange={(event) => setDraft(event.target.value)}
        />
        {change.error && (
          <p role="alert" id="own-texts-error" className={styles.error}>
            {textOf(change.error)}
          </p>
        )}
        {setting?.isReadOnly ? (
          <p className={styles.note}>Set by {setting.sourceName}; change it there.</p>
        ) : (
          <Button type="submit" kind="primary" disabled={texts.join("\n") === stored || change.isPending}>
            Save
          </Button>
        )}
      </form>
      <RedactionTest texts={texts} />
    </section>
  );
}
