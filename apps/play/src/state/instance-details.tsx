import { useEffect, useRef } from 'preact/hooks';
import { Name, wholeValueText } from '../ui/parts.js';
import type { Row } from '../world/records.js';

/** All attributes of one instance, as they are and become. */
export function InstanceDetails({ row, schema, onClose }: { row: Row; schema: string; onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const attributes = Object.entries(row.state);
  return (
    <dialog ref={dialog} class="details" aria-labelledby="details" onClose={onClose}>
      <header>
        <h2 id="details">
          <Name>{row.id}</Name>
        </h2>
        <p class="muted">
          <Name>{schema}</Name>
        </p>
      </header>
      {attributes.length === 0 && <p class="empty">It has no attributes.</p>}
      {/* Scrolls: a keyboard has to reach it. */}
      <dl tabIndex={0}>
        {attributes.map(([name, value]) => (
          <div key={name}>
            <dt>
              <Name>{name}</Name>
            </dt>
            <dd key={row.changed[name]} class={row.changed[name] === undefined ? '' : 'changed'}>
              <bdi>{wholeValueText(value)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
