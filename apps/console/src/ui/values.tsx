import { type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.js';
import { classes } from './classes.js';
import { useTimeText } from './zone.js';

export type Tone = 'plain' | 'accent' | 'ok' | 'warn' | 'bad';

const TONES: Record<Tone, string> = {
  plain: 'bg-sunken text-muted border-line',
  accent: 'bg-accent-soft text-accent border-accent/25',
  ok: 'bg-ok-soft text-ok border-ok/25',
  warn: 'bg-warn-soft text-warn border-warn/25',
  bad: 'bg-bad-soft text-bad border-bad/25',
};

/** A word about a thing: its state or kind. */
export const Badge = ({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) => (
  <span
    className={classes(
      'inline-flex items-center gap-1 rounded-full border px-2 py-px text-xs font-medium whitespace-nowrap',
      TONES[tone],
    )}
  >
    {children}
  </span>
);

export const Badges = ({ words, children }: { words: readonly string[]; children?: ReactNode }) => (
  <span className="flex flex-wrap gap-1">
    {children}
    {words.map((word) => (
      <Badge key={word}>{word}</Badge>
    ))}
  </span>
);

export interface CopyProps {
  text: string;
  /** What it is, for screen readers: "address of the world". */
  what: string;
}

export function Copy({ text, what }: CopyProps) {
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
  const word = { idle: 'Copy', copied: 'Copied', failed: 'Select it by hand' }[state];
  return (
    <Button size="small" look="quiet" onClick={copy} aria-label={`${word}: ${what}`}>
      {word}
    </Button>
  );
}

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

export interface TimeProps {
  /** RFC 3339; null shows `otherwise`. */
  at: string | null | undefined;
  /** As "3 minutes ago", kept current. */
  relative?: boolean | undefined;
  /** It has happened, so it is never shown as in the future: clocks differ, and the page's own is read every 10 s. */
  isPast?: boolean | undefined;
  otherwise?: string | undefined;
}

/** A time by the clock that was chosen; the exact one, in UTC, is its title. */
export function Time({ at, relative = false, isPast = false, otherwise = '–' }: TimeProps) {
  const read = useNow(relative);
  const timeText = useTimeText();
  if (!at) return <span className="text-muted">{otherwise}</span>;
  const date = new Date(at);
  const distance = date.getTime() - read;
  return (
    <time dateTime={at} title={at} className="whitespace-nowrap">
      {relative ? relativeTime(distance, isPast) : timeText(date)}
    </time>
  );
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
];
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** `ms` from now, negative for the past, as "in 2 hours" or "3 minutes ago"; what is past is never in the future. */
export function relativeTime(ms: number, isPast = false): string {
  const seconds = Math.round((isPast ? Math.min(ms, 0) : ms) / 1000);
  const [unit, size] = UNITS.find((one) => Math.abs(seconds) >= one[1]) ?? ['second', 1];
  return words.format(Math.trunc(seconds / size), unit);
}

function useNow(isUsed: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isUsed) return;
    const timer = setInterval(() => setNow(Date.now()), 10_000);
    return () => clearInterval(timer);
  }, [isUsed]);
  return now;
}

export const Failure = ({ error: { code, detail } }: { error: { code: string; detail: string } }) => (
  <span>
    <code className="font-mono text-sm text-bad">{code}</code> {detail}
  </span>
);

/** Block explorers of the networks that payments are commonly made in, by their names in version 1 of x402. */
const EXPLORERS: Readonly<Record<string, (transaction: string) => string>> = {
  base: (transaction) => `https://basescan.org/tx/${transaction}`,
  'base-sepolia': (transaction) => `https://sepolia.basescan.org/tx/${transaction}`,
  solana: (transaction) => `https://explorer.solana.com/tx/${transaction}`,
  'solana-devnet': (transaction) => `https://explorer.solana.com/tx/${transaction}?cluster=devnet`,
};

/** Hash of an EVM transaction, or signature of a Solana one. */
const TRANSACTION = /^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,90})$/i;

/** A transaction in the explorer of its network; undefined where none is known. */
export const explorerLink = (network: string, transaction: string): string | undefined =>
  TRANSACTION.test(transaction) && Object.hasOwn(EXPLORERS, network)
    ? EXPLORERS[network]?.(transaction)
    : undefined;

/** A link that the service gave, if it is one that a page can follow: never a script. */
export function safeLink(url: string | null): string | undefined {
  if (url === null || !URL.canParse(url)) return undefined;
  return /^https?:$/.test(new URL(url).protocol) ? url : undefined;
}

/** A transaction of a chain; with a link it leads to the block explorer. */
export function Transaction({ transaction, link }: { transaction: string | null; link: string | undefined }) {
  if (transaction === null) return '–';
  if (link === undefined) return <CopyableCode text={transaction} what="transaction" short />;
  return (
    <span className="inline-flex items-center gap-0.5 whitespace-nowrap">
      <a
        href={link}
        target="_blank"
        rel="noopener noreferrer"
        className="link font-mono text-sm"
        title={transaction}
      >
        {shortened(transaction)}
        <span className="sr-only"> (opens the block explorer)</span>
      </a>
      <Copy text={transaction} what="transaction" />
    </span>
  );
}
