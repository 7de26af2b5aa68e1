import { ArrowUp, Paperclip, Square } from "lucide-react";
import {
  type ClipboardEvent,
  type DragEvent,
  type KeyboardEvent,
  type Ref,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { type AgentInfo, useAgents } from "../api/agents";
import { Problem } from "../api/client";
import type { Thread } from "../partita.gen";
import { IconButton } from "../ui/Button";
import { isComposing, useCommands } from "../ui/commands";
import { toastError } from "../ui/Toasts";
import { AgentPicker } from "./AgentPicker";
import { Attachments } from "./Attachments";
import { blockedReason } from "./agentChoice";
import { attachedAgain, useAttachments } from "./attachments";
import styles from "./Composer.module.css";
import { takeComposerStart } from "./composerStart";
import { NEW_CHAT, takeDraft, useDraft } from "./draft";
import { ForkAndContinue } from "./ForkAndContinue";
import { prepareLive } from "./lazyLiveThread";
import type { Live, LiveStatus, OutgoingMessage } from "./live";

/** The members of a live thread that a composer uses. */
export type ComposerActions = Pick<Live, "busy" | "status" | "error" | "send" | "stop">;

/** The methods of the composer that other components call. */
export interface ComposerControl {
  /** Moves the focus to the text. */
  readonly focus: () => void;
}

interface Props {
  readonly live: ComposerActions;
  /** The thread to continue; absent for a new chat. */
  readonly thread?: Thread;
  readonly agent: string | undefined;
  /** Called when the user selects another agent; absent if the agent is selected elsewhere. */
  readonly onChoose?: (agent: string) => void;
  readonly autoFocus?: boolean;
  /** Shows the call that waits for the user; absent if none does. */
  readonly onShowWaiting?: () => void;
  readonly control?: Ref<ComposerControl>;
}

const STATUS_TEXT: Readonly<Record<LiveStatus, string>> = {
  idle: "",
  sending: "Sending …",
  streaming: "Responding …",
  waiting: "",
  reconnecting: "The server does not respond. Retrying …",
};

const MAX_HEIGHT = 260;

/** The input for messages. Enter sends, Shift+Enter starts a new line, Escape stops the response. */
export function Composer(props: Props) {
  const { thread } = props;
  const { data: agents } = useAgents();
  if (!agents) return null;
  const blocked = blockedReason(thread, agents);
  if (blocked && thread) return <ForkAndContinue thread={thread} agents={agents} reason={blocked} />;
  return <ComposerForm {...props} agents={agents} blocked={blocked} />;
}

interface FormProps extends Props {
  readonly agents: readonly AgentInfo[];
  readonly blocked: string | null;
}

function ComposerForm(props: FormProps) {
  const { live, thread, agent, onChoose, agents, blocked } = props;
  const [text, setText] = useDraft(thread?.id ?? NEW_CHAT);
  const { files, add, remove, set } = useAttachments();
  const [over, setOver] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const canSend = !live.busy && !blocked && agent !== undefined && (text.trim() !== "" || files.length > 0);

  useAutoHeight(area, text);
  /** Not on a touch screen: there, it would open the keyboard over the response. */
  const focus = () => {
    if (!window.matchMedia("(hover: none)").matches) area.current?.focus();
  };
  const deliver = (message: OutgoingMessage) => {
    live.send(message).catch((error: unknown) => {
      // Restores the message unless the user has written something else since.
      if (!area.current?.value) {
        setText(message.text);
        set(attachedAgain(message.files ?? []));
      }
      if (!(error instanceof Problem)) toastError(error);
    });
  };
  const send = () => {
    focus(); // also after a click on the button
    if (!canSend) return;
    setText("");
    set([]);
    deliver({
      text: text.trim(),
      files: files.map(({ url, mediaType, filename }) => ({ url, mediaType, filename })),
      agent,
    });
  };
  const stop = () => {
    focus();
    live.stop().catch(toastError);
  };
  const canStop = live.busy && live.status !== "waiting";

  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the composer opens
  useLayoutEffect(() => {
    const start = thread && takeComposerStart(thread.id);
    if (!start && !props.autoFocus) return;
    focus();
    if (!start?.message) return;
    setText(takeDraft(NEW_CHAT)); // typed while the session was created
    deliver(start.message);
  }, []);
  useImperativeHandle(props.control, () => ({ focus }));
  useCommands([{ keys: "c", what: "Write a message", group: "Chat", run: () => area.current?.focus() }]);
  useCommands([{ keys: "Escape", what: "Stop the response", group: "Chat", run: stop }], canStop);

  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (event.key === "Enter" && !event.shiftKey) send();
    else if (event.key === "Escape" && canStop) stop();
    else return;
    event.preventDefault();
  };
  const onPaste = (event: ClipboardEvent) => {
    if (!event.clipboardData.files.length) return;
    event.preventDefault();
    void add([...event.clipboardData.files]).catch(toastError);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void add([...event.dataTransfer.files]).catch(toastError);
  };

  return (
    <form
      className={styles.composer}
      data-over={over || undefined}
      onFocus={prepareLive}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <div className={styles.box}>
        <Attachments files={files} onRemove={remove} />
        <textarea
          ref={area}
          className={styles.text}
          rows={1}
          value={text}
          placeholder={thread ? "Reply …" : "Ask something …"}
          aria-label="Message"
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
          onPaste={onPaste}
        />
        <div className={styles.line}>
          <input
            ref={picker}
            type="file"
            multiple
            hidden
            aria-hidden
            tabIndex={-1}
            onChange={(event) => {
              void add([...(event.target.files ?? [])]).catch(toastError);
              event.target.value = "";
            }}
          />
          <IconButton label="Attach files" onClick={() => picker.current?.click()}>
            <Paperclip size={16} />
          </IconButton>
          {onChoose && <AgentPicker agents={agents} value={agent} onChange={onChoose} disabled={live.busy} />}
          <Status live={live} blocked={blocked} canStop={canStop} onShowWaiting={props.onShowWaiting} />
          {live.busy ? (
            <button type="button" className={styles.stop} onClick={stop}>
              <Square size={12} fill="currentColor" aria-hidden />
              Stop
            </button>
          ) : (
            <button
              type="submit"
              className={styles.send}
              disabled={!canSend}
              aria-label="Send"
              title="Send (Enter)"
            >
              <ArrowUp size={18} aria-hidden />
            </button>
          )}
        </div>
      </div>
    </form>
  );
}

interface StatusProps extends Pick<Props, "live" | "onShowWaiting"> {
  readonly blocked: string | null;
  readonly canStop: boolean;
}

function Status({ live, blocked, canStop, onShowWaiting }: StatusProps) {
  const { error, status } = live;
  const hint = error instanceof Problem && error.hint;
  return (
    <span className={styles.status} role="status">
      {error ? (
        <span className={styles.error}>{hint ? `${error.message} ${hint}` : error.message}</span>
      ) : onShowWaiting ? (
        <>
          Waiting for you
          <button type="button" className={styles.show} onClick={onShowWaiting}>
            Show
          </button>
        </>
      ) : (
        (blocked ?? STATUS_TEXT[status])
      )}
      {canStop && (
        <span className={styles.hint}>
          <kbd>Esc</kbd> to stop
        </span>
      )}
    </span>
  );
}

/** Fits the height of a text area to its text. */
function useAutoHeight(area: { readonly current: HTMLTextAreaElement | null }, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the height depends on the text
  useLayoutEffect(() => {
    const element = area.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${Math.min(element.scrollHeight, MAX_HEIGHT)}px`;
  }, [area, text]);
}
