import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

/** Three kinds: what needs no page, what needs a real browser and a real server, and what is measured there. */
export default defineConfig({
  test: {
    projects: [
      {
        plugins: [react()],
        test: {
          name: "unit",
          include: ["unit/**/*.test.{ts,tsx}"],
          environment: "node", // a file that needs a document says so in its first line
          pool: "threads", // no process for each file
          isolate: false, // a file that mocks a module loads its modules again, and gives them back
        },
      },
      {
        test: {
          name: "e2e",
          include: ["e2e/**/*.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 20_000 } }, // as patient as the browser: a second is little on a busy machine
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
