import { useInfiniteQuery } from "@tanstack/react-query";
import { getJson, type Listing } from "../api/client";
import type { ExcludedKind } from "../api/share";
import type { Message, Part } from "../partita.gen";
import { firstLine } from "../parts/toMarkdown";
import { Button } from "../ui/Button";
import { Fold } from "../ui/Fold";
import { capitalized, count } from "../ui/format";
import { Failure, Loading } from "../ui/States";
import { visible } from "../ui/sanitize";
import { EXCLUDED_KINDS, type Options } from "./options";
import styles from "./ShareDialog.module.css";

interface Props {
  readonly threadId: string;
  readonly options: Options;
  readonly onChange: (changes: Partial<Options>) => void;
}

/** Selects what the file includes: kinds of parts, and single messages and parts. */
export function Contents({ threadId, options, onChange }: Props) {
  const left = options.messages.length + options.parts.length;
  return (
    <fieldset className={styles.group}>
      <legend>Included in the file</legend>
      <div className={styles.pairs}>
        {(Object.keys(EXCLUDED_KINDS) as ExcludedKind[]).map((kind) => (
          <label key={kind} className={styles.check}>
            <input
              type="checkbox"
              checked={!options.exclude.includes(kind)}
              onChange={(event) =>
                onChange({
                  exclude: event.target.checked
                    ? options.exclude.filter((one) => one !== kind)
                    : [...options.exclude, kind],
                })
              }
            />
            {EXCLUDED_KINDS[kind]}
          </label>
        ))}
      </div>
      <Fold
        head={
          left
            ? `Single messages and parts: ${count(left)} left out`
            : "Single messages and parts: all included"
        }
      >
        <Picker threadId={threadId} options={options} onChange={onChange} />
      </Fold>
    </fieldset>
  );
}

function Picker({ threadId, options, onChange }: Props) {
  const pages = useInfiniteQuery({
    queryKey: ["share-messages", threadId],
    queryFn: ({ pageParam, signal }) =>
      getJson<Listing<Message>>(
        `api/threads/${encodeURIComponent(threadId)}/messages`,
        { limit: 100, blobs: "reference", cursor: pageParam },
        signal,
      ),
    initialPageParam: null as string | null,
    getNextPageParam: (page) => page.next,
  });
  if (pages.isError) return <Failure error={pages.error} />;
  if (!pages.data) return <Loading />;
  return (
    <div className={styles.picker}>
      {pages.data.pages
        .flatMap((page) => page.items)
        .map((message) => (
          <MessageChoice key={message.id} message={message} options={options} onChange={onChange} />
        ))}
      {pages.hasNextPage && (
        <Button small disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          Show more
        </Button>
      )}
    </div>
  );
}

function MessageChoice({ message, options, onChange }: Omit<Props, "threadId"> & { message: Message }) {
  const isOut = options.messages.includes(message.id);
  const parts: readonly Part[] = message.content.parts;
  const toggle = (list: readonly string[], one: string, isIn: boolean) =>
    isIn ? list.filter((other) => other !== one) : [...list, one];
  return (
    <div className={styles.message}>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={!isOut}
          onChange={(event) =>
            onChange({ messages: toggle(options.messages, message.id, event.target.checked) })
          }
        />
        <span className={styles.line}>
          <strong>{ROLES[message.role]}</strong> {visible(firstLine(message).slice(0, 100))}
        </span>
      </label>
      {!isOut && parts.length > 1 && (
        <div className={styles.parts}>
          {parts.map((part, index) => {
            const one = `${message.id} ${index}`;
            return part.type === "step-start" ? null : (
              <label key={one} className={styles.check}>
                <input
                  type="checkbox"
                  checked={!options.parts.includes(one)}
                  onChange={(event) => onChange({ parts: toggle(options.parts, one, event.target.checked) })}
                />
                <span className={styles.line}>{visible(labelOf(part))}</span>
              </label>
            );
          })}
        </div>
      )}
    </div>
  );
}

const ROLES: Readonly<Record<Message["role"], string>> = {
  user: "User",
  assistant: "Assistant",
  system: "System",
  tool: "Tool",
};

/** `Tool call: Bash` */
function labelOf(part: Part): string {
  const { text, name, title } = part as { text?: string; name?: string; title?: string };
  return [capitalized(part.type.replaceAll("-", " ")), text?.slice(0, 80) ?? name ?? title]
    .filter(Boolean)
    .join(": ");
}
