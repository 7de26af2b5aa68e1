/** Sample texts. */

export interface Sample {
  readonly name: string;
  readonly text: string;
}

const lines = (values: readonly unknown[]): string =>
  `${values.map((one) => JSON.stringify(one)).join("\n")}\n`;
const events = (values: readonly { type: string }[]): string =>
  values.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join("");

const CHAT = {
  id: "chatcmpl-lighthouse",
  object: "chat.completion",
  created: 1772359200,
  model: "gpt-5-mini",
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: "Let me look up the tides for tomorrow.",
        tool_calls: [
          {
            id: "call_tides",
            type: "function",
            function: { name: "tide_table", arguments: '{"harbour":"Gull Point","days":1}' },
          },
        ],
      },
      finish_reason: "tool_calls",
    },
  ],
  usage: { prompt_tokens: 48, completion_tokens: 31, total_tokens: 79 },
};

const UI = [
  {
    id: "m1",
    role: "user",
    parts: [{ type: "text", text: "How tall is the lighthouse at Gull Point?" }],
  },
  {
    id: "m2",
    role: "assistant",
    metadata: { model: "gpt-5-mini", tide: "low" },
    parts: [
      { type: "step-start" },
      { type: "reasoning", text: "The register of lights has the heights.", state: "done" },
      {
        type: "tool-register_of_lights",
        toolCallId: "call_1",
        state: "output-available",
        input: { name: "Gull Point" },
        output: { height: 41, unit: "m", built: 1874 },
      },
      { type: "source-url", sourceId: "s1", url: "https://example.org/lights", title: "Register of lights" },
      { type: "text", text: "The lighthouse is **41 metres** tall. It was built in 1874.", state: "done" },
      { type: "data-position", id: "p1", data: { north: 54.1, west: 3.2 } },
    ],
  },
];

const ANTHROPIC = [
  {
    type: "message_start",
    message: {
      id: "msg_gull",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [],
      stop_reason: null,
      usage: { input_tokens: 25, output_tokens: 1 },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "" } },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "High water, then." } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "c2lnbmVk" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "High water is " } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "at 06:12." } },
  { type: "content_block_stop", index: 1 },
  { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: { output_tokens: 19 } },
  { type: "message_stop" },
];

const SESSION = "5f0c2a9e-7d1b-4c3e-9a86-2b4d6f8e0a11";
const line = (uuid: string, parentUuid: string | null, second: number) => ({
  uuid,
  parentUuid,
  sessionId: SESSION,
  isSidechain: false,
  userType: "external",
  cwd: "/srv/harbour",
  version: "2.1.0",
  gitBranch: "main",
  timestamp: `2026-03-01T10:00:${String(second).padStart(2, "0")}.000Z`,
});
const assistantMessage = (id: string, content: unknown[], output: number, stop: string) => ({
  id,
  type: "message",
  role: "assistant",
  model: "claude-sonnet-4-5",
  content,
  stop_reason: stop,
  usage: { input_tokens: 120, output_tokens: output },
});

const LOG = [
  {
    ...line("u1", null, 0),
    type: "user",
    message: { role: "user", content: "Why does the foghorn test fail?" },
  },
  {
    ...line("u2", "u1", 3),
    type: "assistant",
    message: assistantMessage(
      "msg_1",
      [{ type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "npm test -- foghorn" } }],
      42,
      "tool_use",
    ),
  },
  {
    ...line("u3", "u2", 6),
    type: "user",
    message: {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "toolu_1",
          content: "1 failed: expected 30 s, got 31 s",
          is_error: true,
        },
      ],
    },
  },
  {
    ...line("u4", "u3", 9),
    type: "assistant",
    message: assistantMessage(
      "msg_2",
      [
        {
          type: "text",
          text: "The horn sounds a second late: the timer counts from the *end* of the last blast.",
        },
      ],
      36,
      "end_turn",
    ),
  },
  { ...line("u5", "u4", 12), type: "foghorn-event", level: 7 },
];

export const SAMPLES: readonly Sample[] = [
  { name: "OpenAI chat", text: `${JSON.stringify(CHAT, null, 2)}\n` },
  { name: "AI SDK messages", text: `${JSON.stringify(UI, null, 2)}\n` },
  { name: "Anthropic stream", text: events(ANTHROPIC) },
  { name: "Claude Code log", text: lines(LOG) },
];
