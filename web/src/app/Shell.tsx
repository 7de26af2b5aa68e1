import {
  ChartColumn,
  CircleQuestionMark,
  Ellipsis,
  FileJson2,
  GitCompareArrows,
  House,
  type LucideIcon,
  MessageSquarePlus,
  MessagesSquare,
  Moon,
  Search,
  Settings,
  Sun,
} from "lucide-react";
import { type CSSProperties, type ReactNode, useState } from "react";
import { IconButton } from "../ui/Button";
import { useCommands } from "../ui/commands";
import { keyText } from "../ui/Keys";
import { lazyComponent } from "../ui/lazyModule";
import { Menu, type MenuItem } from "../ui/Menu";
import { usePreference } from "../ui/preferences";
import { go, href } from "../ui/routing";
import { NARROW, useSidebar } from "../ui/sidebar";
import { useMedia } from "../ui/useMedia";
import styles from "./Shell.module.css";
import { Sidebar } from "./Sidebar";
import { preloadView } from "./views";

const Palette = lazyComponent(() => import("../palette/Palette").then((it) => it.Palette));
const Help = lazyComponent(() => import("./Help").then((it) => it.Help));
// Loaded early, so that no letter is typed into the page before it opens.
if (typeof window.requestIdleCallback === "function")
  window.requestIdleCallback(() => void Palette.preload());

interface Props {
  readonly section: string;
  readonly sidebar?: ReactNode;
  /** On a narrow screen: whether the main part is shown, not the sidebar. */
  readonly detail: boolean;
  readonly children: ReactNode;
}

interface Section {
  /** The first step of its routes. */
  readonly name: string;
  readonly label: string;
  readonly keys?: string;
  readonly icon: LucideIcon;
  /** On a narrow screen it is in the menu. */
  readonly inMenu?: boolean;
}

const SECTIONS: readonly Section[] = [
  { name: "home", label: "Home", keys: "g h", icon: House },
  { name: "sessions", label: "Sessions", icon: MessagesSquare },
  { name: "new", label: "New chat", keys: "g n", icon: MessageSquarePlus },
  { name: "analytics", label: "Analytics", keys: "g a", icon: ChartColumn },
  { name: "compare", label: "Compare", keys: "g d", icon: GitCompareArrows, inMenu: true },
  { name: "convert", label: "Convert", keys: "g c", icon: FileJson2, inMenu: true },
  { name: "settings", label: "Settings", keys: "g ,", icon: Settings, inMenu: true },
];

const toSection = ({ name }: Section): string => href(name === "home" ? [] : [name]);

/** The frame of every view: navigation, sidebar and view. */
export function Shell({ section, sidebar, detail, children }: Props) {
  const [help, setHelp] = useState(false);
  const [menu, setMenu] = useState<HTMLElement | null>(null);
  const [isDark, switchTheme] = useTheme();
  const [palette, setPalette] = useState(false);
  const [width] = usePreference("sidebar");
  const list = useSidebar();
  const isNarrow = useMedia(NARROW);
  const openPalette = () => {
    void preloadView("t"); // most of its entries are sessions
    setPalette(true);
  };
  const hasList = sidebar !== undefined;
  useCommands([
    {
      keys: "mod+k",
      what: "Command palette",
      group: "Page",
      keysOnly: true,
      always: true,
      run: () => (palette ? setPalette(false) : openPalette()),
    },
    { keys: "?", what: "Keyboard shortcuts", group: "Page", run: () => setHelp((was) => !was) },
    { keys: "\\", what: "Fold or show the list", group: "Sessions", run: list.toggle },
    ...SECTIONS.map((one) => ({
      keys: one.keys,
      what: one.label,
      group: "Go to" as const,
      run: () => go(toSection(one)),
    })),
  ]);
  const items: MenuItem[] = [
    ...SECTIONS.filter((one) => one.inMenu).map((one) => ({
      label: one.label,
      icon: <one.icon size={15} />,
      run: () => go(toSection(one)),
    })),
    {
      label: isDark ? "Light colours" : "Dark colours",
      icon: isDark ? <Sun size={15} /> : <Moon size={15} />,
      run: switchTheme,
    },
    { label: "Help", icon: <CircleQuestionMark size={15} />, run: () => setHelp(true) },
  ];
  return (
    <div
      className={styles.shell}
      data-detail={detail}
      data-sidebar={sidebar !== undefined}
      data-beside={hasList && list.isVisible && !list.isOverlay}
      style={{ "--sidebar": `${width}px` } as CSSProperties}
    >
      <button type="button" className={styles.skip} onClick={() => document.getElementById("main")?.focus()}>
        Skip to content
      </button>
      <nav className={styles.rail} aria-label="Sections">
        <button
          type="button"
          className={styles.section}
          aria-label="Search everything"
          title={`Search everything (${keyText("mod+k")})`}
          aria-haspopup="dialog"
          onClick={openPalette}
        >
          <Search size={19} aria-hidden />
          <span>Search</span>
        </button>
        {SECTIONS.map((one) =>
          one.name === "sessions" && hasList && !isNarrow ? (
            <button
              key={one.name}
              type="button"
              className={styles.section}
              aria-label={list.isVisible ? "Fold the list" : "Show the list"}
              title={`${list.isVisible ? "Fold" : "Show"} the list (\\)`}
              aria-expanded={list.isVisible}
              aria-controls="sidebar"
              onClick={list.toggle}
            >
              <one.icon size={19} aria-hidden />
            </button>
          ) : (
            <a
              key={one.name}
              href={toSection(one)}
              className={styles.section}
              data-in-menu={one.inMenu}
              aria-current={isCurrent(one, section) ? "page" : undefined}
              title={one.keys ? `${one.label} (${one.keys})` : one.label}
            >
              <one.icon size={19} aria-hidden />
              <span>{one.label}</span>
            </a>
          ),
        )}
        <span className={styles.space} />
        <span className={styles.tools}>
          <IconButton label={isDark ? "Light colours" : "Dark colours"} onClick={switchTheme}>
            {isDark ? <Sun size={17} /> : <Moon size={17} />}
          </IconButton>
          <IconButton label="Help (?)" onClick={() => setHelp(true)}>
            <CircleQuestionMark size={17} />
          </IconButton>
        </span>
        <button
          type="button"
          className={`${styles.section} ${styles.more}`}
          aria-haspopup="menu"
          aria-expanded={menu !== null}
          aria-current={SECTIONS.some((one) => one.inMenu && one.name === section) ? "page" : undefined}
          onClick={(event) => setMenu(event.currentTarget)}
        >
          <Ellipsis size={19} aria-hidden />
          <span>More</span>
        </button>
      </nav>
      {sidebar && (
        <Sidebar
          isMain={isNarrow && !detail}
          isOverlay={list.isOverlay}
          isHidden={!list.isVisible}
          onClose={list.hide}
        >
          {sidebar}
        </Sidebar>
      )}
      <main id="main" className={styles.main} tabIndex={-1}>
        {children}
      </main>
      {menu && <Menu label="More" items={items} anchor={menu} onClose={() => setMenu(null)} />}
      {palette && <Palette onClose={() => setPalette(false)} />}
      {help && <Help onClose={() => setHelp(false)} />}
    </div>
  );
}

/** Whether a section is the current one. The list of sessions is beside Home, or beside an open session. */
const isCurrent = ({ name }: Section, section: string): boolean =>
  name === section || (section === "t" && name === "sessions");

/** Whether the colours are dark, and the function that switches between light and dark ones. */
function useTheme(): readonly [boolean, () => void] {
  const [theme, setTheme] = usePreference("theme");
  const isDark =
    theme === "dark" || (theme === "system" && document.documentElement.dataset.theme === "dark");
  return [isDark, () => setTheme(isDark ? "light" : "dark")];
}
