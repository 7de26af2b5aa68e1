import {
  ChartColumn,
  FileJson2,
  GitCompareArrows,
  MessageSquarePlus,
  MessagesSquare,
  Moon,
  Sun,
} from "lucide-react";
import { type ReactNode, useState } from "react";
import { IconButton } from "../ui/Button";
import { useCommands } from "../ui/commands";
import { usePreference } from "../ui/preferences";
import { go, href } from "../ui/routing";
import { Help } from "./Help";
import styles from "./Shell.module.css";

interface Props {
  readonly section: string;
  readonly sidebar?: ReactNode;
  /** On a narrow screen: whether the main part is shown, not the sidebar. */
  readonly detail: boolean;
  readonly children: ReactNode;
}

const SECTIONS = [
  { name: "threads", also: "t", label: "Sessions", to: href([]), keys: "g h", icon: MessagesSquare },
  { name: "new", label: "New chat", to: href(["new"]), keys: "g n", icon: MessageSquarePlus },
  { name: "analytics", label: "Analytics", to: href(["analytics"]), keys: "g a", icon: ChartColumn },
  { name: "compare", label: "Compare", to: href(["compare"]), keys: "g d", icon: GitCompareArrows },
  { name: "convert", label: "Convert", to: href(["convert"]), keys: "g c", icon: FileJson2 },
] as const;

/** The frame of every view: navigation, sidebar and view. */
export function Shell({ section, sidebar, detail, children }: Props) {
  const [help, setHelp] = useState(false);
  useCommands([
    { keys: "?", what: "Keyboard shortcuts", group: "Page", run: () => setHelp((was) => !was) },
    ...SECTIONS.map(({ label, to, keys }) => ({
      keys,
      what: label,
      group: "Go to" as const,
      run: () => go(to),
    })),
  ]);
  return (
    <div className={styles.shell} data-detail={detail} data-sidebar={sidebar !== undefined}>
      <button type="button" className={styles.skip} onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <nav className={styles.rail} aria-label="Sections">
        {SECTIONS.map((one) => (
          <a
            key={one.name}
            href={one.to}
            className={styles.section}
            aria-current={
              section === one.name || ("also" in one && section === one.also) ? "page" : undefined
            }
            title={`${one.label} (${one.keys})`}
          >
            <one.icon size={19} aria-hidden />
            <span>{one.label}</span>
          </a>
        ))}
        <span className={styles.space} />
        <ThemeButton />
        <IconButton label="Help (?)" onClick={() => setHelp(true)}>
          <span aria-hidden className={styles.question}>
            ?
          </span>
        </IconButton>
      </nav>
      {sidebar && <aside className={styles.sidebar}>{sidebar}</aside>}
      <main id="main" className={styles.main} tabIndex={-1}>
        {children}
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

function ThemeButton() {
  const [theme, setTheme] = usePreference("theme");
  const isDark =
    theme === "dark" || (theme === "system" && document.documentElement.dataset.theme === "dark");
  return (
    <IconButton
      label={isDark ? "Light colours" : "Dark colours"}
      onClick={() => setTheme(isDark ? "light" : "dark")}
    >
      {isDark ? <Sun size={17} /> : <Moon size={17} />}
    </IconButton>
  );
}
