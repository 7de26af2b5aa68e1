import { go, href } from "../ui/routing";
import { Tabs } from "../ui/Tabs";
import { Appearance } from "./Appearance";
import styles from "./Settings.module.css";

const SECTIONS = [{ name: "appearance", label: "Appearance" }] as const;
type Section = (typeof SECTIONS)[number]["name"];

/** The settings: those of this browser, and for the user of this machine those of the server. */
export function Settings({ section }: { section: string | undefined }) {
  const chosen = SECTIONS.find((one) => one.name === section)?.name ?? "appearance";
  const choose = (name: Section) => go(href(["settings", name]), { replace: true });
  return (
    <div className={styles.settings}>
      <h1>Settings</h1>
      <Tabs tabs={SECTIONS} chosen={chosen} onChoose={choose} label="Sections of the settings">
        <Appearance />
      </Tabs>
    </div>
  );
}
