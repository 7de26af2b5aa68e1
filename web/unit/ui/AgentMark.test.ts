import { describe, expect, it } from "vitest";
import { agentName, lettersOf } from "../../src/ui/AgentMark";

describe("the mark of an agent", () => {
  it("has the name of a known agent, and the stored name of others", () => {
    expect(agentName("claude-code")).toBe("Claude Code");
    expect(agentName("keeper")).toBe("keeper");
    expect(agentName(null)).toBe("Chat");
  });

  it("has the initials of two words, or two letters", () => {
    expect(lettersOf("lamp-keeper")).toBe("LK");
    expect(lettersOf("keeper")).toBe("Ke");
    expect(lettersOf("灯台")).toBe("灯台");
    expect(lettersOf("--")).toBe("?");
  });
});
