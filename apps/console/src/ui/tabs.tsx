import { Tabs as Base } from '@base-ui/react/tabs';
import { createLink } from '@tanstack/react-router';
import type { AnchorHTMLAttributes, ReactNode, Ref } from 'react';

export interface TabsProps<V extends string> {
  /** For screen readers: what the tabs divide. */
  label: string;
  value: V;
  onChange: (value: V) => void;
  tabs: readonly { value: V; label: ReactNode; content: ReactNode }[];
}

const LOOK =
  'relative -mb-px border-b-2 border-transparent px-2.5 py-2 text-base font-medium whitespace-nowrap text-muted hover:text-text';

/** Parts of one page, of which one is seen. Tabs that are pages of their own are `TabLinks`. */
export const Tabs = <V extends string>({ label, value, onChange, tabs }: TabsProps<V>) => (
  <Base.Root value={value} onValueChange={(next) => onChange(next as V)}>
    <Base.List aria-label={label} className="mb-4 flex gap-1 overflow-x-auto border-b border-line">
      {tabs.map((tab) => (
        <Base.Tab
          key={tab.value}
          value={tab.value}
          className={`${LOOK} aria-selected:border-accent aria-selected:text-text`}
        >
          {tab.label}
        </Base.Tab>
      ))}
    </Base.List>
    {tabs.map((tab) => (
      <Base.Panel key={tab.value} value={tab.value}>
        {tab.content}
      </Base.Panel>
    ))}
  </Base.Root>
);

/** Links that look like tabs: each leads to a page of its own. The children are `TabLink`s. */
export const TabLinks = ({ label, children }: { label: string; children: ReactNode }) => (
  <nav aria-label={label} className="mb-5 flex gap-1 overflow-x-auto border-b border-line">
    {children}
  </nav>
);

interface AnchorProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  ref?: Ref<HTMLAnchorElement>;
}

/** It takes the props of the router's `Link`. */
export const TabLink = createLink((props: AnchorProps) => (
  <a {...props} className={`${LOOK} aria-[current=page]:border-accent aria-[current=page]:text-text`} />
));
