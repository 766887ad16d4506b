import { CheckpointError, createOrrery, OrreryError, type VerifiedHistory } from '@orrery/sdk';
import type { Story } from './tampered-world.js';

/** What a verifier has kept from before: a checkpoint as it was signed, and the key of the operator. */
export interface Kept {
  readonly checkpoint: string;
  readonly keys: readonly string[];
}

type Served = { readonly url: string; readonly key: string };
type Place = Pick<Story, 'world' | 'address'>;

/**
 * Verifies a history with nothing but what is served now and an earlier checkpoint. Answers what it complains of; undefined:
 * nothing. All of the story can be decided again, so what cannot is a complaint.
 */
export async function complaintOf(system: Served, story: Place, kept: Kept): Promise<string | undefined> {
  try {
    const { firstDivergence, decisions } = await verify(system, story, kept);
    return firstDivergence === null ? uncheckedOf(decisions) : firstDivergence.what;
  } catch (error) {
    if (error instanceof CheckpointError) return error.fault;
    if (error instanceof OrreryError && error.code === 'history_broken') return error.code;
    throw error;
  }
}

/** The checkpoint of now, from a server that nobody has tampered with. */
export async function keep({ url, key }: Served, { world, address }: Place): Promise<Kept> {
  const orrery = createOrrery({ url, token: key });
  const place = { worldAddress: world, address };
  const { keys } = await orrery.get('/api/worlds/{worldAddress}/deployments/{address}/head', { path: place });
  const { note } = await orrery.checkpoint(place, { keys });
  return { checkpoint: note, keys };
}

const verify = (
  { url, key }: Served,
  { world, address }: Place,
  { checkpoint, keys }: Kept,
): Promise<VerifiedHistory> =>
  createOrrery({ url, token: key })
    .deployment(world, address)
    .verifyHistory({ decisions: true, keys, checkpoint });

/** Definitions that have vanished, rules that are others, secrets that are not told. */
function uncheckedOf(decisions: VerifiedHistory['decisions']): string | undefined {
  const { notRerun = {}, seeds } = decisions ?? {};
  const [reason] = Object.keys({ ...notRerun, ...seeds?.notChecked });
  return reason;
}
