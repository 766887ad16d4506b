import { useEffect, useState } from 'react';
import { Button } from './button.js';

export interface CopyProps {
  /** What is copied. */
  text: string;
  /** What it is, for screen readers: "address of the world". */
  what: string;
  /** Words on the button; without them it is a small sign. */
  children?: string | undefined;
}

/** Copies a text and says so. */
export function Copy({ text, what, children }: CopyProps) {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), 2000);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () => {
    // Pages over plain HTTP from another machine have no clipboard.
    const written = navigator.clipboard?.writeText(text) ?? Promise.reject(new Error('no clipboard'));
    written.then(
      () => setState('copied'),
      () => setState('failed'),
    );
  };
  const word = { idle: children ?? 'Copy', copied: 'Copied', failed: 'Select it by hand' }[state];
  return (
    <Button size="small" look="quiet" onClick={copy} aria-label={`${word}: ${what}`}>
      {word}
    </Button>
  );
}

/** A long value in one line, with a button that copies it. */
export const CopyableCode = ({ text, what, short = false }: CopyProps & { short?: boolean }) => (
  <span className="inline-flex max-w-full items-center gap-0.5">
    <code className="truncate font-mono text-sm" title={text}>
      {short ? shortened(text) : text}
    </code>
    <Copy text={text} what={what} />
  </span>
);

/** `0x1234…cdef`. */
export const shortened = (text: string): string =>
  text.length > 16 ? `${text.slice(0, 8)}…${text.slice(-4)}` : text;
