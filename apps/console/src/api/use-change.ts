import type { Orrery } from '@orrery/sdk';
import { type QueryKey, type UseMutationResult, useMutation, useQueryClient } from '@tanstack/react-query';
import { useOrrery } from '../session/use-session.js';

/** A change over the API. When it has been done, what was read under `keys` is read anew before it counts as done. */
export function useChange<Input, Answer>(
  change: (orrery: Orrery, input: Input) => Promise<Answer>,
  keys: readonly QueryKey[],
): UseMutationResult<Answer, Error, Input> {
  const orrery = useOrrery();
  const cache = useQueryClient();
  return useMutation({
    mutationFn: (input: Input) => change(orrery, input),
    onSuccess: () => Promise.all(keys.map((queryKey) => cache.invalidateQueries({ queryKey }))),
  });
}

/** Deletes, leaves the page of what is no longer there, and only then reads anew what showed it. */
export function useRemoval(
  remove: (orrery: Orrery) => Promise<unknown>,
  leave: () => Promise<void>,
  keys: readonly QueryKey[],
): () => Promise<void> {
  const orrery = useOrrery();
  const cache = useQueryClient();
  const { mutateAsync } = useMutation({ mutationFn: () => remove(orrery) });
  return async () => {
    await mutateAsync();
    await leave();
    await Promise.all(keys.map((queryKey) => cache.invalidateQueries({ queryKey })));
  };
}
