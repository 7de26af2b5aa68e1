import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const REPLACED: Readonly<Record<string, string>> = {
  "./Mermaid": "src/reader/MermaidSource.tsx",
  "./PdfView": "src/reader/PdfAbsent.tsx",
  lowlight: "src/reader/colouring.ts",
};

/** What is too large for a file that is sent around has something small in its place. */
const small: Plugin = {
  name: "partita-small",
  enforce: "pre",
  resolveId: (source, importer) => {
    const instead = REPLACED[source];
    return instead && !importer?.endsWith(instead) ? fileURLToPath(new URL(instead, import.meta.url)) : null;
  },
};

/** The shared file: the drawing of a conversation as one script and one style, to be put into one HTML file. */
export default defineConfig({
  plugins: [small, react()],
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
