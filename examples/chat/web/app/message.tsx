import { type ChatAddToolApproveResponseFunction, getToolName, isToolUIPart, type UIMessage } from "ai";

type Part = UIMessage["parts"][number];
type Respond = ChatAddToolApproveResponseFunction;

export function Message({ message, respond }: { message: UIMessage; respond: Respond }) {
  return (
    <article className={message.role}>
      {message.parts.map((part, index) => (
        <PartView key={index} part={part} respond={respond} />
      ))}
    </article>
  );
}

function PartView({ part, respond }: { part: Part; respond: Respond }) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (part.type === "reasoning") return <p className="reasoning">{part.text}</p>;
  if (isToolUIPart(part)) return <Call part={part} respond={respond} />;
  return null;
}

function Call({ part, respond }: { part: Extract<Part, { toolCallId: string }>; respond: Respond }) {
  return (
    <div className="call">
      <b>{getToolName(part)}</b> <code>{JSON.stringify(part.input)}</code>
      {part.state === "approval-requested" && (
        <div className="approval">
          Allow this call?
          <button type="button" onClick={() => respond({ id: part.approval.id, approved: true })}>
            Allow
          </button>
          <button type="button" onClick={() => respond({ id: part.approval.id, approved: false })}>
            Deny
          </button>
        </div>
      )}
      {part.state === "output-available" && <pre>{asText(part.output)}</pre>}
      {part.state === "output-error" && <pre className="error">{part.errorText}</pre>}
      {part.state === "output-denied" && <pre className="error">denied</pre>}
    </div>
  );
}

const asText = (output: unknown) => (typeof output === "string" ? output : JSON.stringify(output, null, 2));
