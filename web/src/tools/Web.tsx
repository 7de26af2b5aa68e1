import { useState } from "react";
import { Markdown } from "../markdown/Markdown";
import type { Link } from "../partita.gen";
import { Button } from "../ui/Button";
import { count, plural } from "../ui/format";
import { OUTWARD, safeHref, visible } from "../ui/hostile";
import type { BodyProps } from "./bodies";
import { type Call, hasFailed } from "./call";
import { CopyOutput, hasOutput, Output, Rest } from "./Output";
import { Scrolling } from "./Scrolling";
import { Section } from "./Section";
import styles from "./Web.module.css";

const LONGEST_PAGE = 60_000;
const PAGE = 20;

/** A page that was fetched. */
export function Fetch({ call }: BodyProps<"fetch">) {
  const { url, prompt } = call.view;
  return (
    <>
      {url && <Address url={url} />}
      {prompt && <p className={styles.aim}>{visible(prompt)}</p>}
      <Said call={call} title="Page" />
    </>
  );
}

/** A search on the web, and the pages it found. */
export function WebSearch({ call }: BodyProps<"web-search">) {
  const { links = [] } = call.view;
  const [limit, setLimit] = useState(PAGE);
  return (
    <>
      {links.length > 0 && (
        <Section title={plural(links.length, "result")}>
          <ol className={styles.links}>
            {links.slice(0, limit).map((link, at) => (
              <li key={at}>
                <FoundPage link={link} />
              </li>
            ))}
          </ol>
          {links.length > limit && (
            <p>
              <Button small onClick={() => setLimit(limit + 100)}>
                Show {count(links.length - limit)} more
              </Button>
            </p>
          )}
        </Section>
      )}
      {links.length > 0 && call.given.value !== undefined ? (
        <Rest call={call} />
      ) : (
        <Said call={call} title="Answer" />
      )}
    </>
  );
}

function Said({ call, title }: { call: Call; title: string }) {
  if (!hasOutput(call)) return null;
  const { text, value } = call.given;
  const isProse = text !== "" && text.length <= LONGEST_PAGE && value === undefined && !hasFailed(call);
  return (
    <Section title={hasFailed(call) ? "Error" : title} aside={<CopyOutput call={call} />}>
      {isProse ? (
        <>
          <Scrolling className={styles.page} label={title}>
            <Markdown text={text} live={false} />
          </Scrolling>
          <Rest call={call} />
        </>
      ) : (
        <Output call={call} />
      )}
    </Section>
  );
}

function Address({ url }: { url: string }) {
  const safe = safeHref(url);
  if (!safe) return <p className={styles.address}>{visible(url)}</p>;
  return (
    <p className={styles.address}>
      <a href={safe} {...OUTWARD}>
        {visible(safe)}
      </a>
    </p>
  );
}

function FoundPage({ link: { title = "", url, text } }: { link: Link }) {
  const safe = safeHref(url);
  const name = visible(title.slice(0, 300) || url.slice(0, 300));
  return (
    <>
      {safe ? (
        <a href={safe} {...OUTWARD}>
          {name}
        </a>
      ) : (
        <span>{name}</span>
      )}
      <span className={styles.host}> {visible(safe ? new URL(safe).host : url.slice(0, 300))}</span>
      {text && <p className={styles.aim}>{visible(text)}</p>}
    </>
  );
}
