import { defineConfig } from "vite";

/** The frame that draws diagrams: a classic script, because its origin is none and modules ask for one. */
export default defineConfig({
  publicDir: false,
  build: {
    outDir: "../src/partita/server/page/built",
    emptyOutDir: false,
    target: "es2023",
    reportCompressedSize: false,
    chunkSizeWarningLimit: 8000,
    lib: {
      entry: "src/mermaid/frame.ts",
      formats: ["iife"],
      name: "partitaMermaid",
      fileName: () => "mermaid.js",
    },
  },
});
