import { Tabs as Base } from '@base-ui/react/tabs';
import { createLink, useLocation } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import type { AnchorProps } from './button.js';

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
    <Base.List
      aria-label={label}
      className="mb-4 flex gap-1 overflow-x-auto overflow-y-hidden border-b border-line"
    >
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
export function TabLinks({ label, children }: { label: string; children: ReactNode }) {
  const strip = useRef<HTMLElement>(null);
  const page = useLocation({ select: ({ pathname }) => pathname });
  // On a narrow page the tab that is open may lie beyond the strip.
  useEffect(() => {
    const links = [...(strip.current?.querySelectorAll('a') ?? [])];
    const open = links.find(({ pathname }) => pathname.endsWith(page));
    if (strip.current && open) centre(strip.current, open);
  }, [page]);
  return (
    <nav
      ref={strip}
      aria-label={label}
      className="relative mb-5 flex gap-1 overflow-x-auto overflow-y-hidden border-b border-line"
    >
      {children}
    </nav>
  );
}

/** `scrollIntoView` would scroll the page too. */
function centre(strip: HTMLElement, part: HTMLElement): void {
  strip.scrollLeft = part.offsetLeft - (strip.clientWidth - part.offsetWidth) / 2;
}

/** It takes the props of the router's `Link`. */
export const TabLink = createLink((props: AnchorProps) => (
  <a {...props} className={`${LOOK} aria-[current=page]:border-accent aria-[current=page]:text-text`} />
));
