import type { JournalFact } from '@orrery/contracts';
import { activeTrace } from '@orrery/service-kit';
import { sql } from 'kysely';
import { startOfHour } from '../../core/pushes/head-hours.js';
import { pushContent } from '../../core/pushes/push-content.js';
import type { Trx } from '../tables/schema.js';
import { placeHead } from './head-store.js';
import { nextNumber } from './lane-store.js';

/** Whose quota the pushes count for. */
export const rememberDeployment = (trx: Trx, { deployment, caller }: JournalFact) =>
  sql`
    insert into deployments (address, account_id)
    values (${deployment}, ${/^account:(\d+)$/.exec(caller)?.[1] ?? null}::bigint)
    on conflict do nothing`.execute(trx);

/** Gives an execution's push to a chain the next number. `limit`: bytes of content that the chain takes. */
export async function appendPush(trx: Trx, entry: JournalFact, chain: string, limit: number): Promise<void> {
  const number = await numberAfterHead(trx, entry, chain);
  const { text, digest } = pushContent(entry, number, entry.binding?.onchain ?? null);
  const truncated = Buffer.byteLength(text) > limit;
  await sql`
    insert into pushes (deployment, chain, number, history_id, seq, entry_hash, digest, content, truncated, traceparent)
    values (${entry.deployment}, ${chain}, ${number}, ${entry.id}, ${entry.seq}, ${entry.hash}, ${digest}, ${text},
      ${truncated}, ${activeTrace() ?? null})`.execute(trx);
}

/** The head of an hour that is over has its number before what comes after it. */
async function numberAfterHead(
  trx: Trx,
  { deployment, executedAt }: JournalFact,
  chain: string,
): Promise<number> {
  const lane = { deployment, chain };
  const until = startOfHour(executedAt);
  const { number, isHeadDue } = await nextNumber(trx, lane, until);
  if (!isHeadDue || !(await placeHead(trx, lane, until, number))) return number;
  return (await nextNumber(trx, lane, until)).number;
}
