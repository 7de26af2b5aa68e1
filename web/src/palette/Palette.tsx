import { Check, Search } from "lucide-react";
import { type KeyboardEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { isComposing } from "../ui/commands";
import { Dialog } from "../ui/Dialog";
import { Highlighted } from "../ui/Highlighted";
import { Keys } from "../ui/Keys";
import { visible } from "../ui/sanitize";
import {
  commandEntries,
  type PaletteEntry,
  savedSearchEntries,
  searchEntry,
  settingEntries,
} from "./entries";
import styles from "./Palette.module.css";
import { type Group, LIMITS, type Ranked, rank, type Section } from "./ranking";
import { useSessionEntries } from "./useSessionEntries";

/** The number of entries that a page key moves by. */
const PAGE = 8;
/** How many sessions that the server has found are shown at least. */
const MIN_FOUND = 3;

interface Props {
  readonly onClose: () => void;
}

/** The command palette: one input for sessions, commands, settings and the search in all sessions. */
export function Palette({ onClose }: Props) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  // Those of the view that has the focus now, before the palette takes it.
  const [commands] = useState(() => [...savedSearchEntries(), ...commandEntries(), ...settingEntries()]);
  const { titled, found } = useSessionEntries(text);
  const groups = useMemo(() => {
    const ranked = rank(text, [...titled, ...commands]);
    return text.trim() ? [...withFound(ranked, found), searchGroup(text.trim())] : ranked;
  }, [text, titled, found, commands]);
  const entries = groups.flatMap(({ items }) => items.map(({ entry }) => entry));
  const current = entries.find((entry) => entry.id === chosen) ?? entries[0];

  // biome-ignore lint/correctness/useExhaustiveDependencies: the current entry or its place has changed
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [current?.id, groups]);

  const run = (entry: PaletteEntry, inNewTab: boolean) => {
    flushSync(onClose); // returns the focus to the view of the command
    if (inNewTab && entry.href) window.open(entry.href, "_blank", "noopener");
    else entry.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    const at = current ? entries.indexOf(current) : -1;
    const last = entries.length - 1;
    const to = {
      ArrowDown: at < last ? at + 1 : 0,
      ArrowUp: at > 0 ? at - 1 : last,
      PageDown: Math.min(at + PAGE, last),
      PageUp: Math.max(at - PAGE, 0),
    }[event.key];
    if (to !== undefined) setChosen(entries[to]?.id ?? null);
    else if (event.key === "Enter" && current) run(current, event.ctrlKey || event.metaKey);
    else if (event.key === "Tab") onClose();
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Command palette" onClose={onClose} bare>
      <div className={styles.palette}>
        <div className={styles.head}>
          <Search size={16} aria-hidden />
          <input
            role="combobox"
            className={styles.input}
            aria-label="Search sessions, commands and settings"
            aria-expanded="true"
            aria-controls={id}
            aria-activedescendant={current && `${id}-${current.id}`}
            aria-autocomplete="list"
            placeholder="Search sessions, commands and settings"
            autoComplete="off"
            spellCheck={false}
            value={text}
            onChange={(event) => {
              setText(event.target.value);
              setChosen(null);
              list.current?.scrollTo(0, 0);
            }}
            onKeyDown={onKeyDown}
          />
          <button
            type="button"
            className={styles.close}
            tabIndex={-1}
            aria-label="Esc: close"
            onClick={onClose}
          >
            <Keys keys="Escape" />
          </button>
        </div>
        <div ref={list} id={id} role="listbox" aria-label="Results" className={styles.list}>
          {groups.map(({ section, items }) => (
            // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
            <div key={section} role="group" aria-label={section}>
              {section !== "Search" && (
                <div className={styles.section} aria-hidden>
                  {headingOf(section, text.trim())}
                </div>
              )}
              {items.map((item) => (
                <Option
                  key={item.entry.id}
                  {...item}
                  id={`${id}-${item.entry.id}`}
                  isCurrent={item.entry === current}
                  onPoint={setChosen}
                  onRun={run}
                />
              ))}
            </div>
          ))}
        </div>
      </div>
    </Dialog>
  );
}

interface OptionProps extends Ranked<PaletteEntry> {
  readonly id: string;
  readonly isCurrent: boolean;
  readonly onPoint: (id: string) => void;
  readonly onRun: (entry: PaletteEntry, inNewTab: boolean) => void;
}

function Option({ entry, highlights, id, isCurrent, onPoint, onRun }: OptionProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the focus and handles the keys
    // biome-ignore lint/a11y/useFocusableInteractive: the field has the focus
    <div
      id={id}
      role="option"
      aria-selected={isCurrent}
      className={styles.option}
      onPointerMove={() => isCurrent || onPoint(entry.id)}
      onPointerDown={(event) => event.preventDefault()} // the focus stays in the field
      onClick={(event) => onRun(entry, event.ctrlKey || event.metaKey)}
    >
      <span className={styles.icon} aria-hidden>
        {entry.icon}
      </span>
      <bdi className={styles.name}>
        <Highlighted text={entry.name} highlights={highlights} />
      </bdi>
      {entry.isChosen && (
        <span className={styles.chosen}>
          <Check size={14} aria-hidden />
          <span className="visually-hidden">chosen</span>
        </span>
      )}
      {entry.detail && <span className={styles.detail}>{visible(entry.detail)}</span>}
      {entry.when && <span className={styles.when}>{entry.when}</span>}
      {entry.keys && <Keys keys={entry.keys} />}
    </div>
  );
}

function headingOf(section: Section, text: string): string {
  if (section === "Sessions" && !text) return "Recent sessions";
  return section === "Contents" ? `Sessions with “${visible(text)}” in their messages` : section;
}

/** The sessions that the server has found in messages, after those that match by their title. */
function withFound(
  groups: readonly Group<PaletteEntry>[],
  found: readonly PaletteEntry[],
): readonly Group<PaletteEntry>[] {
  const shown = new Set(groups.flatMap(({ items }) => items.map(({ entry }) => entry.id)));
  const known = [...shown].filter((id) => id.startsWith("session-")).length;
  const items = found
    .filter(({ id }) => !shown.has(id))
    .slice(0, Math.max(MIN_FOUND, LIMITS.Contents - known))
    .map((entry) => ({ entry, highlights: [] }));
  if (!items.length) return groups;
  const after = groups.findIndex(({ section }) => section === "Sessions") + 1 || groups.length;
  return groups.toSpliced(after, 0, { section: "Contents", items });
}

const searchGroup = (text: string): Group<PaletteEntry> => ({
  section: "Search",
  items: [{ entry: searchEntry(text), highlights: [] }],
});
