/** Builds the page, the file that is shared, and the frame that draws diagrams: in this order, for the first one empties the folder. */
import { build } from "vite";

const CONFIGS = ["vite.config.ts", "vite.reader.config.ts", "vite.mermaid.config.ts"];
const folder = process.env.PARTITA_PAGE;
const below = { "vite.reader.config.ts": "/reader" };

for (const configFile of CONFIGS) {
  const outDir = folder ? `${folder}${below[configFile] ?? ""}` : undefined;
  await build({ configFile, logLevel: "warn", build: outDir ? { outDir } : {} });
}
