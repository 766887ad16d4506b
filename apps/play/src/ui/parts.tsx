import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** What a person has named: text of any script and length, which decides its own direction. */
export const Name = ({ children }: { children: string }) => <bdi class="name">{children}</bdi>;

/** An account or a deployment: the ends of its address, all of it on hovering, and a colour of its own. */
export const Address = ({ of: address }: { of: string }) => (
  <span class="address" title={address}>
    <span class="dot" aria-hidden="true" style={{ '--hue': String(hueOfText(address)) }} />
    <bdi>{shortened(address)}</bdi>
  </span>
);

export const shortened = (address: string): string =>
  address.length > 16 ? `${address.slice(0, 6)}…${address.slice(-4)}` : address;

/** The hue of a deployment, 0 to 359: the gateway has the same rule for its picture. */
export const hueOf = (address: string): number => Number.parseInt(address.slice(2, 8), 16) % 360 || 0;

/** The hue of any text. */
export const hueOfText = (text: string): number => {
  let sum = 0;
  for (const character of text.slice(-24)) sum = (sum * 31 + (character.codePointAt(0) ?? 0)) % 360;
  return sum;
};

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A moment by the clock of who reads it. */
export const Time = ({ at }: { at: string }) => (
  <time dateTime={at} title={TIME.format(new Date(at))}>
    {agoOf(Date.parse(at), useNow())}
  </time>
);

const STEPS = [
  [60, 'second', 1],
  [3600, 'minute', 60],
  [86_400, 'hour', 3600],
  [2_592_000, 'day', 86_400],
] as const;
const AGO = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** How long ago it was, in words; a date where it is longer than a month. */
export function agoOf(at: number, now: number): string {
  const seconds = Math.max(0, (now - at) / 1000);
  if (seconds < 10) return 'just now';
  const step = STEPS.find(([most]) => seconds < most);
  if (step === undefined) return new Date(at).toISOString().slice(0, 10);
  return AGO.format(-Math.floor(seconds / step[2]), step[1]);
}

const TICK_MS = 10_000;

/** The time, told anew now and then. */
function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}

// What is rounded to nothing has no sign.
const NUMBER = new Intl.NumberFormat('en', { maximumFractionDigits: 4, signDisplay: 'negative' });

export const numberText = (value: number): string => NUMBER.format(value);

/** Characters of a value that are shown. */
const MOST_SHOWN = 160;

/** A value of a state in one line; nothing for what an instance does not have. */
export function valueText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'number') return numberText(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > MOST_SHOWN ? `${text.slice(0, MOST_SHOWN)}…` : text;
}

/** The same where there is room for all of it: a number with all of its digits. */
export const wholeValueText = (value: unknown): string =>
  typeof value === 'number' ? String(value) : valueText(value);

/** US dollars, with as many digits as a price has. */
export const priceText = (usd: number): string =>
  `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 6 })}`;

/** An amount of an asset: in units of it where its decimals are known, else in its smallest unit, and said so. */
export function amountText(amount: string, decimals: number | undefined): string {
  if (decimals === undefined) return `${amount} units`;
  const digits = amount.padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const rest = digits.slice(digits.length - decimals).replace(/0+$/, '');
  // As prices are written.
  return decimals < 2 && rest === '' ? whole : `${whole}.${rest.padEnd(2, '0')}`;
}

interface NoticeProps {
  readonly tone?: 'plain' | 'warn' | 'bad' | 'ok';
  readonly children: ComponentChildren;
}

/** A sentence that matters now, which a screen reader says when it comes. */
export const Notice = ({ tone = 'plain', children }: NoticeProps) => (
  <p class={`notice ${tone}`} role="status">
    {children}
  </p>
);
