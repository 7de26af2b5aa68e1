import { useId } from "react";
import { ButtonGroup } from "../ui/ButtonGroup";
import { type Detail, type Preferences, usePreference } from "../ui/preferences";
import styles from "./Appearance.module.css";
import { EditorField } from "./EditorField";
import { Row } from "./Row";

const THEMES = [
  { value: "system", label: "System" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
] as const;
const DENSITIES = [
  { value: "comfortable", label: "Comfortable" },
  { value: "compact", label: "Compact" },
] as const;
const WIDTHS = [
  { value: "text", label: "Readable lines" },
  { value: "full", label: "Full width" },
] as const;
const DETAILS: readonly { readonly value: Detail; readonly label: string }[] = [
  { value: "focused", label: "Focused" },
  { value: "normal", label: "Normal" },
  { value: "everything", label: "Everything" },
];
const PARTS: readonly { readonly name: Preferences["open"][number]; readonly label: string }[] = [
  { name: "reasoning", label: "Reasoning" },
  { name: "commands", label: "Commands" },
  { name: "edits", label: "Edits" },
  { name: "agents", label: "Sub-agents" },
  { name: "other", label: "Other calls" },
];

/** The look of the page, which this browser keeps. */
export function Appearance() {
  const [theme, setTheme] = usePreference("theme");
  const [density, setDensity] = usePreference("density");
  const [width, setWidth] = usePreference("width");
  const [detail, setDetail] = usePreference("detail");
  return (
    <div>
      <p className={styles.note}>Kept in this browser.</p>
      <Row label="Theme" about="System follows your operating system.">
        <ButtonGroup label="Theme" value={theme} choices={THEMES} onChange={setTheme} />
      </Row>
      <Row label="Density" about="The space between messages and rows.">
        <ButtonGroup label="Density" value={density} choices={DENSITIES} onChange={setDensity} />
      </Row>
      <Row label="Width of text" about="Lines of a length that is easy to read, or the whole window.">
        <ButtonGroup label="Width of text" value={width} choices={WIDTHS} onChange={setWidth} />
      </Row>
      <Row
        label="Level of detail"
        about="Focused: questions and final responses. Normal: calls in groups. Everything: every call and event."
      >
        <ButtonGroup label="Level of detail" value={detail} choices={DETAILS} onChange={setDetail} />
      </Row>
      <OpenParts />
      <EditorField />
      <Welcome />
    </div>
  );
}

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
