import { Dialog } from "../ui/Dialog";
import { activeHotkeys } from "../ui/hotkeys";
import styles from "./Help.module.css";

const NAMES: Record<string, string> = { mod: /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl" };

/** The keyboard shortcuts that are active now. */
export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className={styles.keys}>
        {activeHotkeys().map(({ keys, what }) => (
          <div key={keys + what}>
            <dt>
              {keys.split(/ |(?<=.)\+/).map((key) => (
                <kbd key={key}>{NAMES[key] ?? key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
