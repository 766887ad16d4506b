import type { ReactNode } from 'react';

export interface EmptyProps {
  title: string;
  /** Why it is empty, and what the next step does. */
  children?: ReactNode;
  /** The next step: a button or a link. */
  action?: ReactNode;
}

/** A page or a list without anything offers the next step. */
export const Empty = ({ title, children, action }: EmptyProps) => (
  <div className="rounded-lg border border-dashed border-line-strong/50 px-5 py-8 text-center">
    <p className="font-semibold">{title}</p>
    {children && <div className="mx-auto mt-1 max-w-xl text-muted">{children}</div>}
    {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
  </div>
);
