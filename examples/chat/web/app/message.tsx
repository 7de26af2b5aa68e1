import { type ChatAddToolApproveResponseFunction, getToolName, isToolUIPart, type UIMessage } from "ai";

type Part = UIMessage["parts"][number];
type Answer = ChatAddToolApproveResponseFunction;

export function Message({ message, answer }: { message: UIMessage; answer: Answer }) {
  return (
    <article className={message.role}>
      {message.parts.map((part, place) => (
        <PartView key={place} part={part} answer={answer} />
      ))}
    </article>
  );
}

function PartView({ part, answer }: { part: Part; answer: Answer }) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (part.type === "reasoning") return <p className="thought">{part.text}</p>;
  if (isToolUIPart(part)) return <Call part={part} answer={answer} />;
  return null;
}

function Call({ part, answer }: { part: Extract<Part, { toolCallId: string }>; answer: Answer }) {
  return (
    <div className="call">
      <b>{getToolName(part)}</b> <code>{JSON.stringify(part.input)}</code>
      {part.state === "approval-requested" && (
        <div className="question">
          May it?
          <button type="button" onClick={() => answer({ id: part.approval.id, approved: true })}>
            Allow
          </button>
          <button
            type="button"
            onClick={() => answer({ id: part.approval.id, approved: false, reason: "Not today." })}
          >
            Refuse
          </button>
        </div>
      )}
      {part.state === "output-available" && <pre>{shown(part.output)}</pre>}
      {part.state === "output-error" && <pre className="error">{part.errorText}</pre>}
      {part.state === "output-denied" && <pre className="error">refused</pre>}
    </div>
  );
}

const shown = (output: unknown) => (typeof output === "string" ? output : JSON.stringify(output, null, 2));
