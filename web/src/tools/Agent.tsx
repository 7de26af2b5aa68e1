import { Markdown } from "../markdown/Markdown";
import { CopyButton } from "../ui/CopyButton";
import { Fold } from "../ui/Fold";
import { visible } from "../ui/hostile";
import { useViewing } from "../viewing/viewing";
import styles from "./Agent.module.css";
import { childrenOf, isSaidAlready, networkOf } from "./agents";
import type { BodyProps } from "./bodies";
import { type Call, hasFailed, textOf } from "./call";
import { JsonTree } from "./JsonTree";
import { CopyOutput, hasOutput, Output, Rest } from "./Output";
import { Scrolling } from "./Scrolling";
import { Section } from "./Section";
import { stateOf } from "./states";

const LONGEST_ANSWER = 60_000;

/** A sub-agent: what it was asked, what it did, what it came back with. */
export function Agent({ call, place }: BodyProps<"agent">) {
  const { Messages, live } = useViewing();
  const children = childrenOf(call.part);
  const prompt = textOf(call.part, call.view.prompt);
  return (
    <>
      {prompt && <Prompt text={prompt} isLive={call.part.state === "input-streaming"} />}
      {children.length > 0 && <Messages messages={children} place={place} open={isAskedFor(call, live)} />}
      {hasOutput(call) && !isSaidAlready(children, call.given.text) && <Answer call={call} />}
    </>
  );
}

/** A turn of a network: what was chosen and why, and what came of it. */
export function Network({ call, place, isBusy }: BodyProps<"network">) {
  const { Messages, live } = useViewing();
  const network = networkOf(call.part);
  if (!network) return null;
  const children = childrenOf(call.part);
  const result = network.finalResult;
  const prompt = textOf(call.part, call.view.prompt);
  const answer = result?.text ?? "";
  return (
    <>
      {network.selectionReason && (
        <p className={styles.why}>Chosen because: {visible(network.selectionReason)}</p>
      )}
      {prompt && <Prompt text={prompt} isLive={false} />}
      {children.length > 0 && (
        <Messages
          messages={children}
          place={call.part.children?.length ? place : { ...place, path: `${place.path}.messages` }}
          open={isAskedFor(call, live)}
        />
      )}
      {answer && !isSaidAlready(children, answer) && (
        <Section title="Result" aside={<CopyButton text={answer} label="Copy result" />}>
          <Markdown text={answer} live={isBusy} />
        </Section>
      )}
      {result?.value !== undefined && <JsonTree value={result.value} label="Result" />}
      {hasOutput(call) && !answer && <Answer call={call} />}
    </>
  );
}

/** Whether somebody wants to see it: the card of a call that went well does not open by itself. */
const isAskedFor = (call: Call, live: boolean): boolean => stateOf(call.part, live).tone === "ok";

function Prompt({ text, isLive }: { text: string; isLive: boolean }) {
  const isLong = text.length > 400 || text.split("\n").length > 6;
  const body = (
    <Scrolling className={styles.prompt} label="What it was asked">
      <Markdown text={text} live={isLive} breaks />
    </Scrolling>
  );
  if (!isLong || isLive)
    return (
      <Section title="Asked" aside={<CopyButton text={text} label="Copy prompt" />}>
        {body}
      </Section>
    );
  const first = text.trim().split("\n", 1)[0] ?? "";
  return (
    <Fold
      head={
        <span className={styles.line}>
          Asked: <span className={styles.faint}>{visible(first.slice(0, 200))}</span>
        </span>
      }
      aside={<CopyButton text={text} label="Copy prompt" />}
    >
      {body}
    </Fold>
  );
}

function Answer({ call }: { call: Call }) {
  const { text, value } = call.given;
  const isProse = text !== "" && text.length <= LONGEST_ANSWER && value === undefined && !hasFailed(call);
  return (
    <Section title={hasFailed(call) ? "Error" : "Result"} aside={<CopyOutput call={call} />}>
      {isProse ? (
        <>
          <Markdown text={text} live={false} />
          <Rest call={call} />
        </>
      ) : (
        <Output call={call} />
      )}
    </Section>
  );
}
