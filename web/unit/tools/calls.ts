/** Calls of every kind and in every state, as agents write them. */
import type { Message, ToolCallPart, ToolOutput } from "../../src/partita.gen";

let last = 0;

type More = Partial<Omit<ToolCallPart, "type" | "name" | "input">>;

export const said = (value: string): ToolOutput => ({ type: "text", value });
export const failed = (value: string): ToolOutput => ({ type: "error-text", value });
export const json = (value: unknown): ToolOutput => ({ type: "json", value });

/** A call that is done, unless more is said. */
export function call(
  name: string,
  input: unknown,
  output?: ToolOutput | string,
  more: More = {},
): ToolCallPart {
  return {
    type: "tool-call",
    id: `call-${++last}`,
    name,
    state: "output-available",
    input,
    ...(output === undefined ? {} : { output: typeof output === "string" ? said(output) : output }),
    ...more,
  } as ToolCallPart;
}

/** A message of an agent with these parts. */
export const told = (id: string, ...parts: unknown[]): Message =>
  ({
    role: "assistant",
    id,
    type: "text",
    createdAt: "2026-03-03T10:00:00Z",
    content: { format: 2, parts },
  }) as unknown as Message;

export const asked = (id: string, text: string): Message =>
  ({
    role: "user",
    id,
    type: "text",
    createdAt: "2026-03-03T09:59:00Z",
    content: { format: 2, parts: [{ type: "text", text }] },
  }) as unknown as Message;

const E = "\u001b[";

const COLOURS = [
  `${E}1mRunning 3 tests${E}0m`,
  `${E}32m  ✓ bakes a loaf${E}0m ${E}2m(4 ms)${E}0m`,
  `${E}31m  ✗ ${E}4mburns nothing${E}24m${E}0m`,
  `${E}33;1mwarning:${E}0m oven ${E}38;5;208mhot${E}0m, door ${E}48;2;20;90;200mopen${E}0m`,
  `${E}35mmagenta${E}0m ${E}36mcyan${E}0m ${E}34mblue${E}0m ${E}90mgrey${E}0m ${E}7minverse${E}0m`,
  `10 %\r55 %\r100 % done`,
].join("\n");

const PATCH = `*** Begin Patch
*** Update File: bakery/oven.py
@@ class Oven:
-    def heat(self, degrees):
+    def heat(self, degrees: int) -> None:
         self.degrees = degrees
*** Add File: bakery/dough.py
+class Dough:
+    rested = False
*** Delete File: bakery/stale.py
*** End Patch
`;

const FOUND = `bakery/oven.py:12:    def heat(self, degrees):
bakery/oven.py-13-        self.degrees = degrees
bakery/oven.py:40:        self.heat(220)
--
tests/test_oven.py:7:    oven.heat(180)`;

// A red dot: one pixel.
export const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/** A sub-agent whose own sub-agent did the work. */
export const NESTED = call(
  "Task",
  {
    subagent_type: "explorer",
    description: "Find where loaves burn",
    prompt: "Look for `burn` in the bakery.",
  },
  "They burn in `oven.py`.",
  {
    children: [
      told(
        "child-1",
        { type: "text", text: "I ask another one to read the oven." },
        call(
          "Task",
          { subagent_type: "reader", description: "Read the oven", prompt: "Read oven.py." },
          "Line 40 burns.",
          {
            children: [
              told(
                "grandchild-1",
                call("Read", { file_path: "bakery/oven.py" }, "     1→class Oven:\n     2→    degrees = 0"),
                { type: "text", text: "The deepest words." },
              ),
            ],
          },
        ),
      ),
    ] as Message[],
  },
);

export const KINDS: readonly ToolCallPart[] = [
  call("Bash", { command: "npm test -- --colour", description: "Run the tests" }, COLOURS, {
    toolMetadata: { claude: { toolUseResult: { stdout: COLOURS, stderr: "" } } },
  }),
  call(
    "exec_command",
    { cmd: "make loaf", workdir: "/home/baker/bakery" },
    "Wall time: 0.2 seconds\nProcess exited with code 2\nOutput:\nmake: *** no flour. Stop.\n",
  ),
  call(
    "Edit",
    {
      file_path: "/home/baker/bakery/oven.py",
      old_string: "degrees = 180\nlight = True\n",
      new_string: "degrees = 220\nlight = True\nfan = True\n",
    },
    "The file has been updated.",
    {
      toolMetadata: {
        claude: {
          toolUseResult: {
            filePath: "/home/baker/bakery/oven.py",
            structuredPatch: [
              {
                oldStart: 9,
                newStart: 9,
                lines: [
                  " class Oven:",
                  "-    degrees = 180",
                  "+    degrees = 220",
                  "     light = True",
                  "+    fan = True",
                ],
              },
            ],
          },
        },
      },
    },
  ),
  call("apply_patch", PATCH, "Done"),
  call("NotebookEdit", { notebook_path: "plan.ipynb", new_source: "print('bread')", cell_id: "1" }, "ok"),
  call("Write", { file_path: "bakery/README.md", content: "# Bakery\n\nWarm.\n" }, "ok"),
  call(
    "Read",
    { file_path: "bakery/oven.py", offset: 10, limit: 3 },
    "    10→class Oven:\n    11→    def heat(self, degrees):\n    12→        self.degrees = degrees",
  ),
  call(
    "view_image",
    { path: "loaf.png" },
    {
      type: "content",
      value: [{ type: "image", url: PIXEL, mediaType: "image/png", name: "loaf.png" }],
    },
  ),
  call("Grep", { pattern: "heat\\(", output_mode: "content" }, FOUND),
  call("Glob", { pattern: "**/*.py" }, "bakery/oven.py\nbakery/dough.py"),
  call(
    "TodoWrite",
    {
      todos: [
        { content: "Mix the dough", status: "completed" },
        { content: "Heat the oven", status: "in_progress" },
        { content: "Bake", status: "pending" },
        { content: "Sell yesterday's", status: "cancelled" },
      ],
    },
    "ok",
  ),
  call("ExitPlanMode", { plan: "# The plan\n\n1. **Mix**\n2. Bake" }, "approved"),
  call(
    "AskUserQuestion",
    {
      questions: [
        {
          question: "Which flour?",
          options: [
            { label: "Rye", description: "dark" },
            { label: "Wheat", description: "light" },
          ],
        },
      ],
    },
    "ok",
    { toolMetadata: { claude: { toolUseResult: { answers: { "Which flour?": "Rye" } } } } },
  ),
  call(
    "WebFetch",
    { url: "https://example.org/bread", prompt: "How long does it rest?" },
    "It rests for **two hours**.",
  ),
  call(
    "web_search",
    { query: "rye sourdough" },
    json([
      { title: "Rye at home", url: "https://example.org/rye", snippet: "All about rye." },
      { title: "Do not press", url: "javascript:alert(1)" },
    ]),
  ),
  NESTED,
  call("network", {}, undefined, {
    toolMetadata: {
      networkExecution: {
        primitiveType: "agent",
        primitiveId: "pastry-chef",
        selectionReason: "It knows cakes.",
        input: { prompt: "Bake a cake" },
        finalResult: { text: "The cake is **done**." },
        iteration: 0,
      },
    },
  }),
  call("mcp__pantry__stock", { shelf: 3, only: ["flour"] }, json({ flour: 12, notes: { fresh: true } })),
];

export const STATES: readonly ToolCallPart[] = [
  call("Bash", undefined, undefined, {
    state: "input-streaming",
    rawInput: '{"command":"echo half a comm',
  }),
  call("Bash", { command: "sleep 60" }, undefined, { state: "input-available" }),
  call("Bash", { command: "rm -rf crumbs" }, undefined, {
    state: "approval-requested",
    approval: { id: "a1", requestReason: "It deletes files." },
  }),
  call(
    "Bash",
    { command: "rm -rf flour" },
    { type: "execution-denied", reason: "We need it." },
    {
      state: "output-denied",
      approval: { id: "a2", approved: false, respondedBy: "Ada" },
    },
  ),
  call("Bash", { command: "ls" }, "flour\n", {
    approval: { id: "a3", approved: true, respondedBy: "Ada" },
  }),
  call("Read", { file_path: "missing.txt" }, failed("There is no such file."), { state: "output-error" }),
  call("Bash", { command: "yes" }, { type: "interrupted", reason: "aborted" }, { state: "output-error" }),
  call(
    "Bash",
    { command: "bake" },
    { type: "interrupted", reason: "timeout", message: "after 120 s" },
    { state: "output-error" },
  ),
  call("Bash", { command: "wait" }, { type: "interrupted", reason: "lost" }, { state: "output-error" }),
  call("Bash", { command: "tail -f log" }, "so far\n", { preliminary: true }),
  call("web_search", { query: "yeast" }, json([]), { providerExecuted: true }),
  call("old_tool", { a: 1 }, "gone", { unavailable: true }),
  call("stock", { a: 1 }, { type: "error-json", value: { code: "EMPTY" } }, { state: "output-error" }),
];
