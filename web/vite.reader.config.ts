import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const REPLACEMENTS: Readonly<Record<string, string>> = {
  "./Mermaid": "src/reader/MermaidSource.tsx",
  "./PdfView": "src/reader/PdfNotice.tsx",
  lowlight: "src/reader/lowlight.ts",
};

/** Replaces modules that are too large for a shared file. */
const replaceLargeModules: Plugin = {
  name: "partita-replace-large-modules",
  enforce: "pre",
  resolveId: (source, importer) => {
    const path = REPLACEMENTS[source];
    return path && !importer?.endsWith(path) ? fileURLToPath(new URL(path, import.meta.url)) : null;
  },
};

/** The reader of shared files: one script and one style sheet, which the server inlines into an HTML file. */
export default defineConfig({
  plugins: [replaceLargeModules, react()],
  publicDir: false,
  define: { "process.env.NODE_ENV": '"production"' },
  build: {
    outDir: "../src/partita/server/page/built/reader",
    emptyOutDir: true,
    target: "es2023",
    cssCodeSplit: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 4000,
    lib: {
      entry: "src/reader/main.tsx",
      formats: ["iife"],
      name: "partitaReader",
      fileName: () => "reader.js",
      cssFileName: "reader",
    },
  },
});
