import { memo } from 'react';
import { SCROLLABLE } from './classes.js';

export interface JsonViewProps {
  value: unknown;
  label: string;
  /** Pixels after which it scrolls. */
  maxHeight?: number | undefined;
}

export const JsonView = memo(function JsonView({ value, label, maxHeight = 420 }: JsonViewProps) {
  return (
    <section
      aria-label={label}
      {...SCROLLABLE}
      className="overflow-auto rounded-md border border-line bg-sunken"
      style={{ maxHeight }}
    >
      <pre className="min-w-max p-3 font-mono text-sm leading-5">
        <Tokens text={JSON.stringify(value, null, 2) ?? 'null'} />
      </pre>
    </section>
  );
});

/** A key with its colon, a text, a number or a word. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d[\d.eE+-]*|true|false|null/g;
/** Longer ones are shown in one colour: each token is an element. */
const MAX_COLOURED = 60_000;

export function Tokens({ text }: { text: string }) {
  if (text.length > MAX_COLOURED) return text;
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [whole, quoted, colon] = match;
    parts.push(text.slice(at, match.index));
    parts.push(
      <span key={match.index} className={colourOf(quoted, colon)}>
        {whole}
      </span>,
    );
    at = match.index + whole.length;
  }
  parts.push(text.slice(at));
  return parts;
}

function colourOf(quoted: string | undefined, colon: string | undefined): string {
  if (quoted === undefined) return 'text-warn';
  return colon === undefined ? 'text-ok' : 'text-accent';
}
