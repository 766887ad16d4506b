import { useEffect, useRef, useSyncExternalStore } from 'react';

/** What a key does, or two keys one after the other. */
export interface Shortcut {
  /** `j`, or `g w`. */
  readonly keys: string;
  readonly words: string;
  readonly run: () => void;
}

/** Those of what is on the page now, each part with its own. */
const registered = new Map<symbol, readonly Shortcut[]>();

/** What works on the page now, in the order in which it came. */
export const shortcutsNow = (): Shortcut[] => [...registered.values()].flat();

/** Has these keys work while the component is there. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  const names = shortcuts.map(({ keys, words }) => `${keys}\t${words}`).join('\n');
  useEffect(() => {
    const id = Symbol();
    registered.set(
      id,
      names.split('\n').map((name, at) => {
        const [keys = '', words = ''] = name.split('\t');
        return { keys, words, run: () => latest.current[at]?.run() };
      }),
    );
    return () => void registered.delete(id);
  }, [names]);
}

const ITEM = 'orrery.keys';
const listeners = new Set<() => void>();
const areOn = (): boolean => localStorage.getItem(ITEM) !== 'off';

/** Single keys can be turned off: speech input types them by accident (WCAG 2.1.4). */
export function turnKeys(isOn: boolean): void {
  if (isOn) localStorage.removeItem(ITEM);
  else localStorage.setItem(ITEM, 'off');
  for (const listener of listeners) listener();
}

export const useKeysAreOn = (): boolean =>
  useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, areOn);

/** How long the second key of two may take, in milliseconds. */
const PAUSE_MS = 1000;

/** A press of a key, and when it happened: a busy page hears of it later. */
type KeyPress = Pick<KeyboardEvent, 'key' | 'timeStamp'>;

/** Takes keys one after the other; says which shortcut they are, if they are one. */
export function createKeySequence() {
  let first: KeyPress | undefined;
  return ({ key, timeStamp }: KeyPress, shortcuts: readonly Shortcut[]): Shortcut | undefined => {
    const isSecond = first !== undefined && timeStamp - first.timeStamp <= PAUSE_MS;
    const typed = isSecond ? `${first?.key} ${key}` : key;
    const found = shortcuts.find(({ keys }) => keys === typed) ?? shortcuts.find(({ keys }) => keys === key);
    const begins = found === undefined && shortcuts.some(({ keys }) => keys.startsWith(`${key} `));
    first = begins ? { key, timeStamp } : undefined;
    return found;
  };
}

/** Whether a key is typed into something, and is no shortcut. */
export function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.closest('textarea, select, [role=dialog], [role=combobox]') !== null)
    return true;
  return (
    target instanceof HTMLInputElement && !['checkbox', 'radio', 'range', 'button'].includes(target.type)
  );
}
