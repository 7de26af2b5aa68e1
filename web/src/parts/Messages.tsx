import { MessagesSquare } from "lucide-react";
import { useContext, useState } from "react";
import {
  containsTarget,
  type MessagesProps,
  type PartPlace,
  useRenderContext,
} from "../context/renderContext";
import type { Message } from "../partita.gen";
import { Button } from "../ui/Button";
import { Fold } from "../ui/Fold";
import { count, plural } from "../ui/format";
import { visible } from "../ui/sanitize";
import { Depth, MAX_OPENED } from "./depth";
import styles from "./Messages.module.css";
import { MessageView } from "./MessageView";
import { firstLine } from "./toMarkdown";

/** Messages that are rendered before the user clicks "Show more". */
const PAGE = 30;

/** The messages of a sub-agent, nested under the call that started it. They render when the fold is opened. */
export function Messages({ messages, place, open = false }: MessagesProps) {
  const { live, target } = useRenderContext();
  const depth = useContext(Depth) + 1;
  const calls = callsIn(messages);
  const answer = messages.find(({ role }) => role === "assistant"); // its prompt is shown above
  const isOpen = open || (live && depth < MAX_OPENED);
  const head = (
    <span className={styles.head}>
      <MessagesSquare size={14} aria-hidden />
      <span className={styles.count}>
        {plural(messages.length, "message")}
        {calls > 0 && `, ${plural(calls, "call")}`}
      </span>
      {answer && <span className={styles.text}>{visible(firstLine(answer))}</span>}
    </span>
  );
  return (
    <div className={styles.thread}>
      {/* A new key when the run ends: then the fold closes, as it is after a reload. */}
      <Fold key={String(isOpen)} head={head} open={isOpen} holds={containsTarget(place, target)}>
        <Depth.Provider value={depth}>
          <List messages={messages} place={place} />
        </Depth.Provider>
      </Fold>
    </div>
  );
}

function List({ messages, place }: { messages: readonly Message[]; place: PartPlace }) {
  const { target } = useRenderContext();
  const [chosen, setLimit] = useState(PAGE);
  const limit = Math.max(chosen, indexOf(place, target?.path) + 1);
  return (
    <div className={styles.list}>
      {messages.slice(0, limit).map((message, index) => (
        <MessageView
          key={`${message.id}/${index}`}
          message={message}
          within={{ ...place, path: `${place.path}.children.${index}` }}
        />
      ))}
      {messages.length > limit && (
        <Button small onClick={() => setLimit(limit + PAGE)}>
          Show more ({count(messages.length - limit)} left)
        </Button>
      )}
    </div>
  );
}

/** The index of the message at `place` that contains the path; -1 if none does. */
function indexOf(place: PartPlace, path: string | undefined): number {
  const start = `${place.path}.children.`;
  return path?.startsWith(start) ? Number.parseInt(path.slice(start.length), 10) : -1;
}

const callsIn = (messages: readonly Message[]): number =>
  messages.reduce(
    (sum, message) => sum + message.content.parts.filter((part) => part.type === "tool-call").length,
    0,
  );
