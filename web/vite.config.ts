import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The web page. All URLs are relative, so that the server can be mounted under any path. */
export default defineConfig({
  plugins: [react()],
  base: "./",
  build: {
    outDir: "../src/partita/server/page/built",
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0, // inlined scripts or fonts would require a weaker content security policy
    modulePreload: { polyfill: false },
    sourcemap: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // Few files: what every view needs, and what a session needs besides. Other views have their own.
          groups: [
            { name: "page", test: /src[\\/](main\.tsx|api[\\/]|ui[\\/])|lucide-react/, priority: 2 },
            { name: "session", test: /src[\\/]conversation[\\/]Conversation\.tsx/, priority: 1 },
          ],
        },
      },
    },
  },
  server: { proxy: { "/api": "http://127.0.0.1:7272" } },
});
