/** Builds the page, the reader of shared files and the frame for diagrams. The page is first: its build empties the folder. */
import { build } from "vite";

const CONFIGS = ["vite.config.ts", "vite.reader.config.ts", "vite.mermaid.config.ts"];
const folder = process.env.PARTITA_PAGE;
const subfolders = { "vite.reader.config.ts": "/reader" };

for (const configFile of CONFIGS) {
  const outDir = folder ? `${folder}${subfolders[configFile] ?? ""}` : undefined;
  await build({ configFile, logLevel: "warn", build: outDir ? { outDir } : {} });
}
