import type { Link } from "../partita.gen";
import { Button } from "../ui/Button";
import { count, plural } from "../ui/format";
import { useShownItems } from "../ui/reveal";
import { EXTERNAL_LINK, safeHref, visible } from "../ui/sanitize";
import type { BodyProps } from "./bodies";
import { hasOutput, OtherOutput, TextOutput } from "./Output";
import { Section } from "./Section";
import { withoutLinks } from "./tags";
import styles from "./Web.module.css";

const PAGES = { first: 20, next: 100 };

/** A web page that was fetched. */
export function Fetch({ call }: BodyProps<"fetch">) {
  const { url, prompt } = call.view;
  return (
    <>
      {url && <Address url={url} />}
      {prompt && <p className={styles.text}>{visible(prompt)}</p>}
      {hasOutput(call) && <TextOutput call={call} title="Page" />}
    </>
  );
}

/** A web search with its results. */
export function WebSearch({ call }: BodyProps<"web-search">) {
  const { links = [] } = call.view;
  const { limit, more, area } = useShownItems(links, textOf, PAGES);
  return (
    <>
      {links.length > 0 && (
        <Section title={plural(links.length, "result")}>
          <ol className={styles.links} {...area}>
            {links.slice(0, limit).map((link, at) => (
              <li key={at}>
                <SearchResult link={link} />
              </li>
            ))}
          </ol>
          {links.length > limit && (
            <p>
              <Button small onClick={more}>
                Show {count(links.length - limit)} more
              </Button>
            </p>
          )}
        </Section>
      )}
      {links.length > 0 && call.content.value !== undefined ? (
        <OtherOutput call={call} />
      ) : (
        hasOutput(call) && (
          <TextOutput call={call} title="Answer" shorten={links.length ? withoutLinks : undefined} />
        )
      )}
    </>
  );
}

const textOf = ({ title = "", url, text = "" }: Link): string => `${title || url}\n${text}`;

function Address({ url }: { url: string }) {
  const safe = safeHref(url);
  if (!safe) return <p className={styles.address}>{visible(url)}</p>;
  return (
    <p className={styles.address}>
      <a href={safe} {...EXTERNAL_LINK}>
        {visible(safe)}
      </a>
    </p>
  );
}

function SearchResult({ link: { title = "", url, text } }: { link: Link }) {
  const safe = safeHref(url);
  const name = visible(title.slice(0, 300) || url.slice(0, 300));
  return (
    <>
      {safe ? (
        <a href={safe} {...EXTERNAL_LINK}>
          {name}
        </a>
      ) : (
        <span>{name}</span>
      )}
      <span className={styles.host}> {visible(safe ? new URL(safe).host : url.slice(0, 300))}</span>
      {text && <p className={styles.text}>{visible(text)}</p>}
    </>
  );
}
