import type { Orrery } from '@orrery/sdk';
import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useOrrery } from '../session/session.js';

export function useReadAnew(): (keys: readonly QueryKey[]) => Promise<unknown> {
  const cache = useQueryClient();
  return (keys) => Promise.all(keys.map((queryKey) => cache.invalidateQueries({ queryKey })));
}

/**
 * A change over the API. When it has been done, what was read under `keys` is read anew before it counts as done, and
 * then `done` is called. After a refusal it is read anew too: others may have changed it.
 */
export function useChange<Answer, Input = void>(
  change: (orrery: Orrery, input: Input) => Promise<Answer>,
  keys: readonly QueryKey[],
  done?: (answer: Answer) => unknown,
): UseMutationResult<Answer, Error, Input> {
  const orrery = useOrrery();
  const readAnew = useReadAnew();
  return useMutation({
    mutationFn: (input: Input) => change(orrery, input),
    onSuccess: async (answer) => {
      await readAnew(keys);
      await done?.(answer);
    },
    onError: () => void readAnew(keys),
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
