import { type FormEvent, type ReactNode, useState } from "react";
import { useAgents } from "../api/agents";
import { accessKey, Problem, setAccessKey } from "../api/client";
import { Button } from "../ui/Button";
import { Failure } from "../ui/States";
import styles from "./Guard.module.css";

/** Shows the page if the server accepts the browser's requests, else a form for the API key. */
export function Guard({ children }: { children: ReactNode }) {
  const { data, error, refetch } = useAgents(); // a request that the page needs anyway
  if (data) return children;
  if (error instanceof Problem && error.status === 401) {
    return <KeyForm wrong={accessKey() !== null} retry={() => void refetch()} />;
  }
  if (error) return <Failure error={error} retry={() => void refetch()} />;
  return children; // until the response arrives, every other request handles its own errors
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
        <h1>This server requires an API key</h1>
        <label htmlFor="key">API key</label>
        <input
          id="key"
          type="password"
          autoComplete="off"
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        {wrong && <p role="alert">The server rejected this key.</p>}
        <p>
          Open the address that <code>partita serve</code> printed, or create a key with{" "}
          <code>partita keys create --resource NAME</code>. The key is deleted when this tab is closed.
        </p>
        <Button kind="primary" type="submit" disabled={!key.trim()}>
          Continue
        </Button>
      </form>
    </main>
  );
}
