import { useEffect, useState } from 'preact/hooks';
import { pathTo } from '../world/place.js';

/** Instead of a world: why there is none to see, and how to get to another one. */
export function NoWorld({
  deployment,
  code,
  detail,
}: {
  deployment?: string;
  code?: string;
  detail?: string;
}) {
  const isAbsent = code === 'deployment_not_found';
  const title =
    deployment === undefined ? 'Which world?' : isAbsent ? 'No world is open here' : 'This did not work';
  useEffect(() => {
    document.title = `${title} · Orrery`;
  }, [title]);
  return (
    <main class="waiting">
      <h1>{title}</h1>
      {isAbsent && (
        <p>
          Nothing is published at <code>{deployment}</code>. Its owner may not have opened it yet, may have
          closed it, or the address is not right.
        </p>
      )}
      {deployment !== undefined && !isAbsent && <p>{detail}</p>}
      <WorldForm />
    </main>
  );
}

function WorldForm() {
  const [address, setAddress] = useState('');
  return (
    <form
      class="ask"
      onSubmit={(event) => {
        event.preventDefault();
        if (address.trim() !== '') location.assign(pathTo(address.trim()));
      }}
    >
      <label class="field">
        <span>Address of a world</span>
        <input
          type="text"
          placeholder="0x…"
          autocomplete="off"
          value={address}
          onInput={(event) => setAddress(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="play">
        Open
      </button>
    </form>
  );
}

/** While the first answer is awaited; after a while it says so. */
export function Opening({ since }: { since: number }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLong(true), 4000);
    return () => clearTimeout(timer);
  }, []);
  return (
    <main class="waiting">
      <h1>Opening…</h1>
      {isLong && (
        <p role="status">
          The server has not answered since {new Date(since).toLocaleTimeString()}. The page tries again by
          itself.
        </p>
      )}
    </main>
  );
}
