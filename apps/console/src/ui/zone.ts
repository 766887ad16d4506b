import { useSyncExternalStore } from 'react';

/** The clock by which times are shown: the reader's own, or UTC. */
export type Zone = 'local' | 'utc';

const ITEM = 'orrery.zone';
const listeners = new Set<() => void>();

const storedZone = (): Zone => (localStorage.getItem(ITEM) === 'utc' ? 'utc' : 'local');

/** Kept on this machine, like the colours. */
export function chooseZone(zone: Zone): void {
  if (zone === 'utc') localStorage.setItem(ITEM, zone);
  else localStorage.removeItem(ITEM);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  // Another tab has chosen.
  addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    removeEventListener('storage', listener);
  };
}

export const useZone = (): Zone => useSyncExternalStore(subscribe, storedZone);

/** Writes times by the clock that was chosen. */
export function useTimeText(): (date: Date) => string {
  const zone = useZone();
  return (date) => timeText(date, zone);
}

const two = (value: number): string => String(value).padStart(2, '0');

/** `2026-11-22 17:05:09`: it sorts, and it is the same in every language. Times in UTC end with `Z`. */
export function timeText(date: Date, zone: Zone): string {
  if (zone === 'utc') return `${date.toISOString().slice(0, 19).replace('T', ' ')}Z`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** What a field for a time holds (`2026-11-22T17:05:09`), by that clock. */
export const timeIn = (text: string, zone: Zone): Date => new Date(zone === 'utc' ? `${text}Z` : text);
