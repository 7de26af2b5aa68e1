import { activeCommands, type Command, GROUPS } from "../ui/commands";
import { Dialog } from "../ui/Dialog";
import { Keys } from "../ui/Keys";
import styles from "./Help.module.css";

/** The keyboard shortcuts that are active now, in groups. */
export function Help({ onClose }: { onClose: () => void }) {
  const all = withKeys(activeCommands());
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
                  <div key={keys}>
                    <dt>
                      <Keys keys={keys} />
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

/** The commands with keys. Of two with the same keys, the one that was added last runs. */
function withKeys(commands: readonly Command[]): readonly Command[] {
  const last = new Map(commands.map((one) => [one.keys, one]));
  return commands.filter((one) => one.keys !== undefined && last.get(one.keys) === one);
}
