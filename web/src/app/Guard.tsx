import { type FormEvent, type ReactNode, useState } from "react";
import { useAgents } from "../api/agents";
import { accessKey, Problem, setAccessKey } from "../api/client";
import { Button } from "../ui/Button";
import { Failure } from "../ui/States";
import styles from "./Guard.module.css";

/** Lets the page be used where the server lets this browser in; else asks for a key. */
export function Guard({ children }: { children: ReactNode }) {
  const asked = useAgents(); // what the page needs anyway tells whether it is let in
  if (asked.data) return children;
  if (asked.error instanceof Problem && asked.error.status === 401) {
    return <KeyForm wrong={accessKey() !== null} retry={() => void asked.refetch()} />;
  }
  if (asked.error) return <Failure error={asked.error} retry={() => void asked.refetch()} />;
  return children; // what is asked meanwhile is refused on its own
}

function KeyForm({ wrong, retry }: { wrong: boolean; retry: () => void }) {
  const [key, setKey] = useState("");
  const enter = (event: FormEvent) => {
    event.preventDefault();
    setAccessKey(key.trim());
    retry();
  };
  return (
    <main className={styles.guard}>
      <form onSubmit={enter} className={styles.form}>
        <h1>This server asks for a key</h1>
        <label htmlFor="key">Key</label>
        <input
          id="key"
          type="password"
          autoComplete="off"
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        {wrong && <p role="alert">The server does not know this key.</p>}
        <p>
          Open the address that <code>partita serve</code> printed, or make a key with{" "}
          <code>partita keys create --resource NAME</code>. This tab forgets it when it is closed.
        </p>
        <Button kind="primary" type="submit" disabled={!key.trim()}>
          Enter
        </Button>
      </form>
    </main>
  );
}
