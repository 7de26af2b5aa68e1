import styles from "./Keys.module.css";

const IS_MAC = /Mac|iPhone|iPad/.test(navigator.platform);
const NAMES: Readonly<Record<string, string>> = {
  mod: IS_MAC ? "⌘" : "Ctrl",
  Escape: "Esc",
  ArrowLeft: "←",
  ArrowRight: "→",
  Delete: "Del",
};

/** The keys of a command: `g h`, `mod+k`. A capital letter is one with Shift. */
export function Keys({ keys }: { keys: string }) {
  return (
    <span className={styles.keys}>
      {partsOf(keys).map((key, index) => (
        <kbd key={index}>{NAMES[key] ?? key}</kbd>
      ))}
    </span>
  );
}

/** The keys as text, for a tooltip. */
export const keyText = (keys: string): string =>
  partsOf(keys)
    .map((key) => NAMES[key] ?? key)
    .join(" ");

function partsOf(keys: string): readonly string[] {
  return keys.split(" ").flatMap((step) => {
    if (step.startsWith("mod+")) return ["mod", step.slice(4).toUpperCase()];
    return /^[A-Z]$/.test(step) ? ["Shift", step] : [step];
  });
}
