import { type ReactNode, useEffect } from 'react';
import { classes } from './classes.js';

export interface PageProps {
  /** The heading, and the title of the browser's tab. */
  title: string;
  beside?: ReactNode;
  /** Under the heading: what it is, in a line. */
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

/** A page: one heading of level 1, what can be done, the content. */
export function Page({ title, beside, lead, actions, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Orrery`;
  }, [title]);
  return (
    <div className="mx-auto w-full max-w-320 px-4 pt-5 pb-16 sm:px-6">
      <header className="mb-5 flex flex-wrap items-start gap-x-4 gap-y-3">
        <div className="min-w-0 grow">
          <div className="flex flex-wrap items-center gap-x-2.5 gap-y-1">
            <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
            {beside}
          </div>
          {lead && <div className="mt-1 max-w-3xl text-muted">{lead}</div>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

export interface SectionProps {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
  className?: string | undefined;
  /** For links to it. */
  id?: string;
}

export function Section({ title, lead, actions, children, className, id }: SectionProps) {
  return (
    <section id={id} className={classes('mb-7', className)}>
      <div className="mb-2.5 flex flex-wrap items-end gap-x-3 gap-y-2">
        <div className="min-w-0 grow">
          <h2 className="text-lg font-semibold">{title}</h2>
          {lead && <p className="text-sm text-muted">{lead}</p>}
        </div>
        {actions && <div className="flex flex-wrap gap-2">{actions}</div>}
      </div>
      {children}
    </section>
  );
}

export const Card = ({ children, className }: { children: ReactNode; className?: string | undefined }) => (
  <div className={classes('rounded-lg border border-line bg-surface p-4', className)}>{children}</div>
);

export interface EmptyProps {
  title: string;
  /** Why it is empty, and what the next step does. */
  children?: ReactNode;
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

/** Values by their names, as a list of two columns. Those that are undefined are left out. */
export const Details = ({ items }: { items: Readonly<Record<string, ReactNode>> }) => (
  <dl className="grid grid-cols-1 gap-x-6 gap-y-1.5 sm:grid-cols-[max-content_1fr]">
    {Object.entries(items)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-sm text-muted max-sm:mt-1">{name}</dt>
          <dd className="min-w-0">{value}</dd>
        </div>
      ))}
  </dl>
);
