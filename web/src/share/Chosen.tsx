import { useInfiniteQuery } from "@tanstack/react-query";
import { getJson, type Listing } from "../api/client";
import type { Leaving } from "../api/share";
import type { Message, Part } from "../partita.gen";
import { firstWords } from "../parts/plain";
import { Button } from "../ui/Button";
import { Fold } from "../ui/Fold";
import { plural } from "../ui/format";
import { visible } from "../ui/hostile";
import { Failure, Loading } from "../ui/States";
import { LEAVINGS, type Options } from "./options";
import styles from "./ShareDialog.module.css";

interface Props {
  readonly threadId: string;
  readonly options: Options;
  readonly onChange: (changes: Partial<Options>) => void;
}

/** What stays here: kinds of parts, and single messages and parts. */
export function Chosen({ threadId, options, onChange }: Props) {
  const chosen = options.messages.length + options.parts.length;
  return (
    <fieldset className={styles.group}>
      <legend>Left out</legend>
      <div className={styles.pairs}>
        {(Object.keys(LEAVINGS) as Leaving[]).map((kind) => (
          <label key={kind} className={styles.check}>
            <input
              type="checkbox"
              checked={options.leave.includes(kind)}
              onChange={(event) =>
                onChange({
                  leave: event.target.checked
                    ? [...options.leave, kind]
                    : options.leave.filter((one) => one !== kind),
                })
              }
            />
            {LEAVINGS[kind]}
          </label>
        ))}
      </div>
      <Fold
        head={
          chosen
            ? `${plural(chosen, "message or part", "messages and parts")} chosen`
            : "Choose messages and parts"
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
          <Choosable key={message.id} message={message} options={options} onChange={onChange} />
        ))}
      {pages.hasNextPage && (
        <Button small disabled={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          Show more
        </Button>
      )}
    </div>
  );
}

function Choosable({ message, options, onChange }: Omit<Props, "threadId"> & { message: Message }) {
  const isOut = options.messages.includes(message.id);
  const parts: readonly Part[] = message.content.parts;
  const toggled = (list: readonly string[], one: string, isIn: boolean) =>
    isIn ? [...list, one] : list.filter((other) => other !== one);
  return (
    <div className={styles.message}>
      <label className={styles.check}>
        <input
          type="checkbox"
          checked={isOut}
          onChange={(event) =>
            onChange({ messages: toggled(options.messages, message.id, event.target.checked) })
          }
        />
        <span className={styles.line}>
          <strong>{message.role}</strong> {visible(firstWords(message).slice(0, 100))}
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
                  checked={options.parts.includes(one)}
                  onChange={(event) => onChange({ parts: toggled(options.parts, one, event.target.checked) })}
                />
                <span className={styles.line}>{visible(wordsOf(part))}</span>
              </label>
            );
          })}
        </div>
      )}
    </div>
  );
}

function wordsOf(part: Part): string {
  const { text, name, title } = part as { text?: string; name?: string; title?: string };
  return [part.type, text?.slice(0, 80) ?? name ?? title].filter(Boolean).join(": ");
}
