import { createDecisionCheck, sha256Hex } from '@orrery/deciding';
import type { OrreryError } from '../errors/orrery-error.js';
import type { DeploymentPath } from '../journal/journal.js';
import type { Requests } from '../requests/requests.js';
import type { DecisionCheck } from '../verification/decision-check.js';
import { type States, splitKey } from '../verification/hash-chain.js';

export { verifyDraw } from './verify-draw.js';

const DEFINITION = '/api/worlds/{worldAddress}/deployments/{address}/definitions/{hash}';
const ENTRY = '/api/worlds/{worldAddress}/deployments/{address}/history/{historyId}';

/**
 * Decides the executions of a journal again with the very rules of the service: a second implementation of them would be
 * another language. `verifyHistory({ decisions: true })` loads it. `source` is the address of what it was cloned from, and
 * `states` what it begins with; undefined: nobody knows.
 */
export function beginDecisions(
  requests: Requests,
  path: DeploymentPath,
  source: string | undefined,
  states: States | undefined,
  signal: AbortSignal | undefined,
): DecisionCheck {
  if (states === undefined) return countOnly();
  /** Who is not shown the texts of one exchange is shown those of none: they are not asked for in vain. */
  let areTextsShown = true;
  // The SDK's types of records are made of the API's document, those of the rules are the service's own.
  const { counts, check, follow } = createDecisionCheck({
    worldAddress: path.worldAddress,
    source: source === undefined ? undefined : { id: 0, address: source },
    first: [...states].map(([key, { state }]) => ({ ...splitKey(key), state: state as never })),
    definitionOf: async (hash) =>
      (await readable(requests.answer('get', DEFINITION, { path: { ...path, hash }, signal }))) as never,
    exchangeOf: async ({ id: historyId }) => {
      if (!areTextsShown) return undefined;
      const answer = requests.answer('get', ENTRY, { path: { ...path, historyId }, signal });
      const llm = (await readable(answer))?.llm;
      if (llm && !('request' in llm)) areTextsShown = false;
      return llm && 'response' in llm ? (llm as never) : undefined;
    },
  });
  return {
    counts,
    check: (entry) => check(entry as never),
    follow: (entry) => follow(entry as never),
    sha256: sha256Hex,
  };
}

/** Undefined: the caller may not read it, or it is not there. */
async function readable<T>(asked: Promise<{ body: { data: T } }>): Promise<T | undefined> {
  try {
    return (await asked).body.data;
  } catch (error) {
    // Published as a bundle of its own, this would have another class of the same name.
    const { status } = error as Partial<OrreryError>;
    if (status === 404 || status === 403) return undefined;
    throw error;
  }
}

/** Nothing can be decided again without the states. */
function countOnly(): DecisionCheck {
  const counts = { rerun: 0, notRerun: { no_states: 0 } };
  return {
    counts,
    check: ({ kind }) => {
      if (kind === 'execution') counts.notRerun.no_states += 1;
      return undefined;
    },
    follow: () => undefined,
    sha256: sha256Hex,
  };
}
