import { defineConfig } from "vite";

/** The frame that renders diagrams. It is a classic script, since module scripts require an origin, which it lacks. */
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
