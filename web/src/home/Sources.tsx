import { useSources } from "../settings/queries";
import { SourceList, summaryOf } from "../settings/SourceList";
import { Fold } from "../ui/Fold";
import { href } from "../ui/routing";
import styles from "./Home.module.css";
import { Section } from "./Section";

/** Where sessions were searched for: a line while all is well, the list if there are errors or no sessions. */
export function Sources() {
  const { data } = useSources();
  if (!data) return null;
  const { items } = data;
  const isOpen = items.some((one) => one.problemCount) || !items.some((one) => one.files);
  return (
    <Section title="Sources" more={<a href={href(["settings", "sources"])}>Settings</a>}>
      <Fold head={summaryOf(items)} open={isOpen} className={styles.sources}>
        <SourceList items={items} />
      </Fold>
    </Section>
  );
}
