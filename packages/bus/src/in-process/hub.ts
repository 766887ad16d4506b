import { type FactsOptions, openFacts, type StoredFacts } from './facts/open-facts.js';
import { createSwitchboard, type Switchboard } from './switchboard.js';

/** What the services of one process share when no NATS is between them. Dispose it after their buses. */
export interface InProcessHub extends AsyncDisposable {
  readonly switchboard: Switchboard;
  readonly facts: StoredFacts;
}

/** @throws StartupError when the database cannot be used. */
export async function createInProcessHub(options: FactsOptions): Promise<InProcessHub> {
  const facts = await openFacts(options);
  return {
    switchboard: createSwitchboard(),
    facts,
    [Symbol.asyncDispose]: () => facts[Symbol.asyncDispose](),
  };
}
