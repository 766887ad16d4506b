import type { Resources, RunningService } from '@orrery/service-kit';

/** Registers every service that has started, in the given order. If one has not, throws its error afterwards. */
export async function useAll(
  resources: Pick<Resources, 'use'>,
  starting: Readonly<Record<string, Promise<RunningService>>>,
): Promise<void> {
  const outcomes = await Promise.allSettled(Object.values(starting));
  for (const [index, name] of Object.keys(starting).entries()) {
    const outcome = outcomes[index];
    if (outcome?.status !== 'fulfilled') continue;
    resources.use(name, outcome.value, outcome.value.stopTimeoutMs);
  }
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
