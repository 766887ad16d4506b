import { type ReactNode, useState } from 'react';

/** Shorter lists are seen at a glance. */
const LONG = 20;

export interface FindProps<T> {
  /** What the list has: "events". */
  what: string;
  items: readonly T[];
  nameOf: (item: T) => string;
  children: (found: readonly T[]) => ReactNode;
}

/** Above a long list a field that leaves what has the text in its name. */
export function Find<T>({ what, items, nameOf, children }: FindProps<T>) {
  const [text, setText] = useState('');
  if (items.length <= LONG) return children(items);
  const wanted = text.trim().toLowerCase();
  const found = items.filter((item) => nameOf(item).toLowerCase().includes(wanted));
  return (
    <>
      <input
        type="search"
        aria-label={`Find ${what}`}
        placeholder={`Find among ${items.length} ${what}`}
        className="control mb-2 max-w-md"
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      {found.length === 0 ? <p className="py-3 text-muted">None has this in its name.</p> : children(found)}
    </>
  );
}
