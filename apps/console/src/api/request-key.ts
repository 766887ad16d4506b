import { useRef } from 'react';

/** 128 random bits. `crypto.randomUUID` is missing in pages over plain HTTP. */
export const newKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  );

/**
 * Keys of requests that must happen once: what is sent again after a lost answer gets the key that it had, until it
 * is forgotten because its outcome is known.
 */
export function useRequestKey() {
  const sent = useRef<{ what: string; key: string }>(undefined);
  return {
    keyOf: (what: string): string => {
      if (sent.current?.what !== what) sent.current = { what, key: newKey() };
      return sent.current.key;
    },
    forget: () => {
      sent.current = undefined;
    },
  };
}
