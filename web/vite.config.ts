import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The page. Everything is named relatively, so that it works below any path the server is mounted at. */
export default defineConfig({
  plugins: [react()],
  base: "./",
  build: {
    outDir: "../src/partita/server/page/built",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0, // an inlined script or font would need a looser policy
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
  },
  server: { proxy: { "/api": "http://127.0.0.1:7272" } },
});
