import { activeCommands, GROUPS } from "../ui/commands";
import { Dialog } from "../ui/Dialog";
import styles from "./Help.module.css";

const NAMES: Record<string, string> = { mod: /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl" };

/** The keyboard shortcuts that are active now, in groups. */
export function Help({ onClose }: { onClose: () => void }) {
  const all = activeCommands().filter((one) => one.keys !== undefined);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose} wide>
      <div className={styles.groups}>
        {GROUPS.map((group) => ({ group, commands: all.filter((one) => one.group === group) }))
          .filter(({ commands }) => commands.length)
          .map(({ group, commands }) => (
            <section key={group}>
              <h3>{group}</h3>
              <dl className={styles.keys}>
                {commands.map(({ keys = "", what }) => (
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
            </section>
          ))}
      </div>
    </Dialog>
  );
}
