import { go, href } from "../ui/routing";
import { Tabs } from "../ui/Tabs";
import { useTitle } from "../ui/useTitle";
import { Appearance } from "./Appearance";
import { Prices } from "./Prices";
import { useServerSettings } from "./queries";
import { Redaction } from "./Redaction";
import styles from "./Settings.module.css";
import { Sources } from "./Sources";

const SECTIONS = [
  { name: "appearance", label: "Appearance", view: Appearance },
  { name: "sources", label: "Sources", view: Sources },
  { name: "prices", label: "Prices", view: Prices },
  { name: "redaction", label: "Redaction", view: Redaction },
] as const;
type Section = (typeof SECTIONS)[number]["name"];

/** The settings: those of this browser, and for the user of the server's machine those of the server. */
export function Settings({ section }: { section: string | undefined }) {
  useTitle("Settings");
  const { isError, isEnabled } = useServerSettings();
  const isLocal = isEnabled && !isError;
  const shown = SECTIONS.filter((one) => one.name === "appearance" || isLocal);
  const chosen = shown.find((one) => one.name === section) ?? SECTIONS[0];
  const choose = (name: Section) => go(href(["settings", name]), { replace: true });
  return (
    <div className={styles.settings}>
      <h1>Settings</h1>
      <Tabs tabs={shown} chosen={chosen.name} onChoose={choose} label="Sections of the settings">
        <chosen.view />
      </Tabs>
    </div>
  );
}
