import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

/** Unit tests, browser tests against a real server, screenshots for the documentation, and benchmarks. */
export default defineConfig({
  test: {
    projects: [
      {
        plugins: [react()],
        test: {
          name: "unit",
          include: ["unit/**/*.test.{ts,tsx}"],
          environment: "node", // files that need a DOM declare it in their first line
          pool: "threads", // cheaper than a process per file
          isolate: false, // files that mock a module reset the module registry
        },
      },
      {
        test: {
          name: "e2e",
          include: ["e2e/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 120_000, // starting a server takes long on a busy machine
          expect: { poll: { timeout: 20_000 } }, // the default of one second is too short on a busy machine
          isolate: false,
          maxWorkers: 2,
          retry: 0,
        },
      },
      {
        test: {
          name: "pictures",
          include: ["e2e/**/*.shots.ts"],
          testTimeout: 60_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: "bench",
          include: ["e2e/**/*.bench.ts"],
          testTimeout: 300_000,
          hookTimeout: 60_000,
          maxWorkers: 1,
        },
      },
    ],
  },
});
