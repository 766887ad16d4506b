import type { ReactNode } from 'react';

/** Names and values, as a list of two columns. */
export const Details = ({ items }: { items: readonly (readonly [name: string, value: ReactNode])[] }) => (
  <dl className="grid grid-cols-1 gap-x-6 gap-y-1.5 sm:grid-cols-[max-content_1fr]">
    {items.map(([name, value]) => (
      <div key={name} className="contents">
        <dt className="text-sm text-muted max-sm:mt-1">{name}</dt>
        <dd className="min-w-0 break-words">{value}</dd>
      </div>
    ))}
  </dl>
);
