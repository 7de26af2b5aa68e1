import { useId, useState } from "react";
import { Button } from "../ui/Button";
import { ButtonGroup } from "../ui/ButtonGroup";
import { activeCommands } from "../ui/commands";
import {
  type Preferences,
  resetPreferences,
  SETTINGS,
  setSetting,
  usePreference,
  usePreferences,
} from "../ui/preferences";
import styles from "./Appearance.module.css";
import { EditorField } from "./EditorField";
import { Row } from "./Row";

const PARTS: readonly { readonly name: Preferences["open"][number]; readonly label: string }[] = [
  { name: "reasoning", label: "Reasoning" },
  { name: "commands", label: "Commands" },
  { name: "edits", label: "Edits" },
  { name: "agents", label: "Sub-agents" },
  { name: "other", label: "Other calls" },
];

/** The look of the page, which this browser keeps. */
export function Appearance() {
  const now = usePreferences();
  const [resets, setResets] = useState(0);
  const reset = () => {
    resetPreferences();
    setResets(resets + 1);
  };
  return (
    <div>
      <p className={styles.note}>Kept in this browser.</p>
      {SETTINGS.map(({ name, label, about, choices }) => (
        <Row key={name} label={label} about={about}>
          <ButtonGroup<string>
            label={label}
            value={now[name]}
            choices={choices}
            onChange={(value) => setSetting(name, value)}
          />
        </Row>
      ))}
      <OpenParts />
      <EditorField key={resets} />
      <Welcome />
      <Row label="Keyboard shortcuts" about="Press ? in any view.">
        <Button onClick={showShortcuts}>Show shortcuts</Button>
      </Row>
      <Row label="Defaults" about="For everything on this page.">
        <Button onClick={reset}>Reset to defaults</Button>
      </Row>
    </div>
  );
}

const showShortcuts = () =>
  activeCommands()
    .find((one) => one.keys === "?")
    ?.run();

function OpenParts() {
  const [open, setOpen] = usePreference("open");
  const id = useId();
  return (
    <Row label="Expanded at first" about="Parts of a session that are open when you open it.">
      <fieldset className={styles.parts}>
        <legend className="visually-hidden">Expanded at first</legend>
        {PARTS.map(({ name, label }) => (
          <label key={name} htmlFor={`${id}-${name}`}>
            <input
              id={`${id}-${name}`}
              type="checkbox"
              checked={open.includes(name)}
              onChange={(event) =>
                setOpen(event.target.checked ? [...open, name] : open.filter((one) => one !== name))
              }
            />
            {label}
          </label>
        ))}
      </fieldset>
    </Row>
  );
}

function Welcome() {
  const [welcome, setWelcome] = usePreference("welcome");
  const id = useId();
  return (
    <Row
      label="First steps on Home"
      control={id}
      about="What to try first, until you have sessions of your own."
    >
      <input
        id={id}
        type="checkbox"
        className={styles.switch}
        checked={welcome}
        onChange={(event) => setWelcome(event.target.checked)}
      />
    </Row>
  );
}
