import { useId, useState } from "react";
import { editorUrl } from "../ui/paths";
import { usePreference } from "../ui/preferences";
import { CUSTOM, EDITORS, editorOf } from "./editors";
import styles from "./fields.module.css";
import { Row } from "./Row";

/** A file that is likely to exist, for a link that shows whether the editor opens. */
const TEST_FILE = "/etc/hosts";

/** The editor that opens files, by a preset or by a URL of the user. */
export function EditorField() {
  const id = useId();
  const [url, setUrl] = usePreference("editor");
  const [draft, setDraft] = useState(url);
  const [isCustom, setCustom] = useState(editorOf(url) === CUSTOM);
  const choose = (name: string) => {
    const preset = EDITORS.find((one) => one.name === name);
    setCustom(!preset);
    setDraft(preset?.url ?? url);
    if (preset) setUrl(preset.url);
  };
  const change = (text: string) => {
    setDraft(text);
    if (linkOf(text)) setUrl(text.trim());
  };
  const link = linkOf(draft);
  const isWrong = isCustom && !link;
  return (
    <Row
      label="Editor"
      control={id}
      about="Opens files of your sessions at their line."
      error={
        isWrong
          ? "Write a URL such as vscode://file/{path}:{line}. It needs {path}, and a scheme that opens an editor."
          : undefined
      }
    >
      <select
        id={id}
        className={styles.field}
        value={isCustom ? CUSTOM : editorOf(url)}
        onChange={(event) => choose(event.target.value)}
      >
        {[...EDITORS.map((one) => one.name), CUSTOM].map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
      {isCustom && (
        <input
          className={styles.field}
          aria-label="URL of the editor"
          aria-invalid={isWrong}
          aria-describedby={isWrong ? `${id}-error` : undefined}
          spellCheck={false}
          value={draft}
          onChange={(event) => change(event.target.value)}
        />
      )}
      {link && (
        <a href={link} rel="noreferrer">
          Test: open {TEST_FILE}
        </a>
      )}
    </Row>
  );
}

const linkOf = (url: string): string | null => editorUrl(url.trim(), TEST_FILE, undefined);
