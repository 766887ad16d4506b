import type { Orrery } from '@orrery/sdk';
import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useOrrery } from '../session/session.js';
import { isUndecided } from '../ui/undecided.js';

export function useReadAnew(): (keys: readonly QueryKey[]) => Promise<unknown> {
  const cache = useQueryClient();
  return (keys) => Promise.all(keys.map((queryKey) => cache.invalidateQueries({ queryKey })));
}

/** A request with its key: the same one sent again after a lost answer has the key that it had, and happens once. */
type Once = <Request extends object>(request: Request) => Request & { readonly idempotencyKey: string };

/**
 * A change over the API. When it has been done, what was read under `keys` is read anew before it counts as done, and
 * then `done` is called. After a refusal it is read anew too: others may have changed it. Requests that make something
 * go through `once`.
 */
export function useChange<Answer, Input = void>(
  change: (orrery: Orrery, input: Input, once: Once) => Promise<Answer>,
  keys: readonly QueryKey[],
  done?: (answer: Answer) => unknown,
): UseMutationResult<Answer, Error, Input> {
  const orrery = useOrrery();
  const readAnew = useReadAnew();
  const { keyOf, forget } = useRequestKey();
  const once: Once = (request) => ({ ...request, idempotencyKey: keyOf(JSON.stringify(request)) });
  return useMutation({
    mutationFn: (input: Input) => change(orrery, input, once),
    onSuccess: async (answer) => {
      await readAnew(keys);
      await done?.(answer);
    },
    onError: () => void readAnew(keys),
    onSettled: (_answer, error) => {
      if (!isUndecided(error)) forget();
    },
  });
}

/** Deletes, leaves the page of what is no longer there, and only then reads anew what showed it. */
export function useRemoval(
  remove: (orrery: Orrery) => Promise<unknown>,
  leave: () => Promise<void>,
  keys: readonly QueryKey[],
): () => Promise<void> {
  const readAnew = useReadAnew();
  const { mutateAsync } = useChange(remove, []);
  return async () => {
    await mutateAsync();
    await leave();
    await readAnew(keys);
  };
}

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
