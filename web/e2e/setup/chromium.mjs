/**
 * Finds a Chromium: that of `PARTITA_CHROMIUM`, that of the npm package (Linux on x64 only), or an installed one. Run
 * as a program, it installs one with apt-get or prints how to install one.
 */
import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

const NAMES = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];
const PATHS = ["/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"];
const PACKAGED = process.platform === "linux" && process.arch === "x64";

/** The path of a Chromium and its arguments; null if there is none. */
export async function findChromium() {
  const named = process.env.PARTITA_CHROMIUM;
  if (named) return { path: named, args: [] };
  if (PACKAGED) {
    const { default: packaged } = await import("@sparticuz/chromium");
    const unwanted =
      /single-process|no-zygote|web-security|site-isolation|insecure-content|gl=|angle|swiftshader|gpu/;
    return {
      path: await packaged.executablePath(),
      args: packaged.args.filter((one) => !unwanted.test(one)),
    };
  }
  const folders = (process.env.PATH ?? "").split(delimiter);
  const found = [...folders.flatMap((folder) => NAMES.map((name) => join(folder, name))), ...PATHS].find(
    canRun,
  );
  return found ? { path: found, args: [] } : null;
}

function canRun(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function install() {
  const apt = (...args) => execFileSync("apt-get", args, { stdio: ["ignore", "ignore", "inherit"] });
  apt("update", "-qq");
  apt("install", "-y", "-qq", "--no-install-recommends", "chromium-headless-shell");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href && !(await findChromium())) {
  try {
    install();
  } catch {
    console.error("The browser tests need a Chromium, and npm has none for this platform.");
    console.error("Install one, or set PARTITA_CHROMIUM=/path/to/chromium");
    process.exit(1);
  }
}
