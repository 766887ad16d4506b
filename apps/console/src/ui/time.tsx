import { useEffect, useState } from 'react';

export interface TimeProps {
  /** RFC 3339; null shows `otherwise`. */
  at: string | null | undefined;
  /** As "3 minutes ago", kept current. */
  relative?: boolean | undefined;
  /** It has happened, so it is never shown as in the future: clocks differ, and the page's own is read every 10 s. */
  isPast?: boolean | undefined;
  otherwise?: string | undefined;
}

/** A time in the reader's zone; the exact one, in UTC, is its title. */
export function Time({ at, relative = false, isPast = false, otherwise = '–' }: TimeProps) {
  const read = useNow(relative);
  if (!at) return <span className="text-muted">{otherwise}</span>;
  const date = new Date(at);
  const distance = date.getTime() - read;
  return (
    <time dateTime={at} title={at} className="whitespace-nowrap">
      {relative ? relativeTime(distance, isPast) : localTime(date)}
    </time>
  );
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `2026-11-22 17:05:09`: it sorts, and it is the same in every language. */
export const localTime = (date: Date): string =>
  `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;

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
