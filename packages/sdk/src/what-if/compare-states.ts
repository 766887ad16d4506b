import { OrreryError } from '../errors/orrery-error.js';
import type { components } from '../generated/api.js';
import type { DeploymentPath } from '../journal/journal.js';
import type { Requests } from '../requests/requests.js';
import { canonicalJson } from '../verification/hash-chain.js';

type State = components['schemas']['EntityInstance']['state'];

/** An instance that is not the same in both histories. */
export interface StateDifference {
  /** `schema:instanceId`. */
  readonly instance: string;
  /** As the recorded history left it; null: it is not there. */
  readonly original: State | null;
  readonly replayed: State | null;
  /** The attributes that differ. */
  readonly attributes: readonly string[];
}

interface Compared {
  readonly requests: Requests;
  readonly source: DeploymentPath;
  readonly fork: DeploymentPath;
  /** The entry of the source after which it is compared with the fork as it is now. */
  readonly to: number;
  readonly signal: AbortSignal | undefined;
}

const MOST_COMPARED = 500;
const AT_ONCE = 8;
const INSTANCE = '/api/worlds/{worldAddress}/deployments/{address}/entity-instances/{instanceId}';

export async function compareStates(
  { requests, source, fork, to, signal }: Compared,
  instances: readonly string[],
): Promise<{ readonly states: StateDifference[]; readonly isCut: boolean }> {
  const states: StateDifference[] = [];
  const compared = instances.slice(0, MOST_COMPARED);
  const compareOne = async (instance: string) => {
    const [original, replayed] = await Promise.all([
      stateOf(requests, source, instance, { atSeq: to }, signal),
      stateOf(requests, fork, instance, {}, signal),
    ]);
    const attributes = attributesThatDiffer(original, replayed);
    return attributes.length === 0 && (original === null) === (replayed === null)
      ? []
      : [{ instance, original, replayed, attributes }];
  };
  for (let done = 0; done < compared.length; done += AT_ONCE)
    states.push(...(await Promise.all(compared.slice(done, done + AT_ONCE).map(compareOne))).flat());
  return { states, isCut: instances.length > compared.length };
}

async function stateOf(
  requests: Requests,
  path: DeploymentPath,
  instance: string,
  at: { readonly atSeq?: number },
  signal: AbortSignal | undefined,
): Promise<State | null> {
  const colon = instance.indexOf(':');
  const [entitySchema, instanceId] = [instance.slice(0, colon), instance.slice(colon + 1)];
  const query = { entitySchema, ...at };
  try {
    return (await requests.answer('get', INSTANCE, { path: { ...path, instanceId }, query, signal })).body
      .data.state;
  } catch (error) {
    if (error instanceof OrreryError && error.code === 'entity_instance_not_found') return null;
    throw error;
  }
}

/** Attributes whose values are not the same, those that one of the two lacks among them. */
export function attributesThatDiffer(a: State | null, b: State | null): string[] {
  const names = new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})]);
  const textOf = (state: State | null, name: string) =>
    state !== null && Object.hasOwn(state, name) ? canonicalJson(state[name]) : undefined;
  return [...names].filter((name) => textOf(a, name) !== textOf(b, name));
}
