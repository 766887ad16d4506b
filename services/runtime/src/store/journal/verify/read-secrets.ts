import { bytesOf, commitmentOf } from '@orrery/deciding';
import { sql } from 'kysely';
import {
  type Commitments,
  type KnownSecret,
  openedBy,
  type RandomnessKeys,
} from '../../../core/randomness/secrets.js';
import { RANDOMNESS } from '../../state/deployment-state.js';
import type { Db } from '../../tables/schema.js';

interface CommitmentRow {
  readonly seq: number;
  /** Of `randomness_committed`. */
  readonly commitment: string | null;
  /** Of `randomness_revealed`. */
  readonly secrets: readonly { readonly commitment: string; readonly secret: string }[] | null;
}

/**
 * The secrets that a journal has committed to, by their commitments: those that it has revealed, and the others where the
 * operator's keys open them.
 */
export async function readSecrets(
  db: Db,
  { id, address }: { readonly id: number; readonly address: string },
  keys: RandomnessKeys,
): Promise<ReadonlyMap<string, KnownSecret>> {
  const secrets = new Map<string, KnownSecret>();
  const { open } = await openOf(db, id);
  for (const { seq, commitment, secrets: revealed } of await commitmentRows(db, id)) {
    const nonce = open.find((one) => one.commitment === commitment);
    const secret = nonce && openedBy(keys, address, nonce);
    if (commitment !== null) secrets.set(commitment, { committed: seq, ...(secret && { secret }) });
    for (const told of revealed ?? []) {
      const known = secrets.get(told.commitment);
      const bytes = bytesOf(told.secret);
      // What is told of another commitment reveals nothing.
      if (known === undefined || commitmentOf(bytes) !== told.commitment) continue;
      secrets.set(told.commitment, { ...known, revealed: seq, secret: bytes });
    }
  }
  return secrets;
}

async function openOf(db: Db, id: number): Promise<Pick<Commitments, 'open'>> {
  const { rows } = await sql<{ randomness: Commitments | null }>`
    select ${sql.raw(RANDOMNESS)} as randomness from deployments d where d.id = ${id}`.execute(db);
  return rows[0]?.randomness ?? { open: [] };
}

async function commitmentRows(db: Db, id: number): Promise<CommitmentRow[]> {
  const { rows } = await sql<CommitmentRow>`
    select j.seq, j.input->>'commitment' as commitment, j.input->'secrets' as secrets from journal j
    where j.deployment_id = ${id} and j.kind in ('randomness_committed', 'randomness_revealed')
    order by j.seq`.execute(db);
  return rows;
}
