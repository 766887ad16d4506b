import type { Resources, RunningService } from '@orrery/service-kit';

/** Holds what has started, in the order of the names, also when another has not: that one's error is thrown then. */
export async function useAll(
  resources: Pick<Resources, 'use'>,
  starting: Readonly<Record<string, Promise<RunningService>>>,
): Promise<void> {
  const outcomes = await Promise.allSettled(Object.values(starting));
  for (const [place, name] of Object.keys(starting).entries()) {
    const outcome = outcomes[place];
    if (outcome?.status === 'fulfilled') resources.use(name, outcome.value);
  }
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
