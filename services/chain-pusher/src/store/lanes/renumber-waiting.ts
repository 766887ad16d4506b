import { sql } from 'kysely';
import { renumbered } from '../../core/pushes/push-content.js';
import type { AdoptionProgress, Lane, Trx } from '../tables/schema.js';

/** Pushes that are numbered anew at once. */
const PAGE = 1000;

/**
 * How far the numbering has come. `down` gives lower numbers, from the first push on, `up` higher ones, from the last on: so each
 * number is free when it is given.
 */
type Renumbering = Pick<AdoptionProgress, 'at' | 'next'> & { readonly step: 'down' | 'up' };

interface WaitingPush {
  readonly number: number;
  readonly content: string | null;
}

/**
 * What gives all that waits in a lane the numbers after `chainLast`, in its order; undefined: it has them. What is taken in
 * meanwhile comes after it.
 */
export async function startRenumbering(
  trx: Trx,
  lane: Lane,
  chainLast: number,
): Promise<Renumbering | undefined> {
  const { rows } = await sql<{ count: number; first: number; last: number }>`
    select count(*) as count, coalesce(min(number), ${chainLast}::bigint + 1) as first,
      coalesce(max(number), ${chainLast}::bigint) as last
    from pushes where deployment = ${lane.deployment} and chain = ${lane.chain} and status = 'queued'`.execute(
    trx,
  );
  const { count, first, last } = rows[0] ?? { count: 0, first: chainLast + 1, last: chainLast };
  const hasGap = last - first + 1 > count;
  if (hasGap || first > chainLast + 1) return { step: 'down', at: 0, next: chainLast + 1 };
  await setLast(trx, lane, chainLast + count);
  return first > chainLast ? undefined : { step: 'up', at: last + 1, next: chainLast + count };
}

/** Numbers some of them. Resolves with how it goes on, or undefined once it is done. */
export async function renumberSome(
  trx: Trx,
  lane: Lane,
  { step, at, next }: Renumbering,
): Promise<Renumbering | undefined> {
  const page = await (step === 'down' ? waitingAbove(trx, lane, at) : waitingBelow(trx, lane, at));
  const by = step === 'down' ? 1 : -1;
  await moveAll(
    trx,
    lane,
    page.flatMap((push, index) => moveTo(push, next + by * index, step)),
  );
  const end = next + by * page.length;
  if (page.length === PAGE) return { step, at: page.at(-1)?.number ?? at, next: end };
  if (step === 'up') return undefined;
  await setLast(trx, lane, end - 1);
  return { step: 'up', at: end, next: end - 1 };
}

const setLast = (trx: Trx, { deployment, chain }: Lane, last: number) =>
  sql`
    update lanes set last_number = ${last} where deployment = ${deployment} and chain = ${chain}`.execute(
    trx,
  );

async function waitingAbove(trx: Trx, { deployment, chain }: Lane, at: number): Promise<WaitingPush[]> {
  const { rows } = await sql<WaitingPush>`
    select number, content from pushes
    where deployment = ${deployment} and chain = ${chain} and status = 'queued' and number > ${at}
    order by number limit ${PAGE}`.execute(trx);
  return rows;
}

async function waitingBelow(trx: Trx, { deployment, chain }: Lane, at: number): Promise<WaitingPush[]> {
  const { rows } = await sql<WaitingPush>`
    select number, content from pushes
    where deployment = ${deployment} and chain = ${chain} and status = 'queued' and number < ${at}
    order by number desc limit ${PAGE}`.execute(trx);
  return rows;
}

interface Move {
  readonly number: number;
  readonly to: number;
  readonly text: string | null;
  /** Null: it stays as it is, of a head that is not read yet, or of contents that are removed. */
  readonly digest: string | null;
}

function moveTo({ number, content }: WaitingPush, to: number, step: Renumbering['step']): Move[] {
  if (step === 'down' ? to >= number : to <= number) return [];
  const { text, digest } = content === null ? { text: null, digest: null } : renumbered(content, to);
  return [{ number, to, text, digest }];
}

/** By way of numbers below 0: within one statement a number may not be free yet. The range is that of the page, not of the lane. */
async function moveAll(trx: Trx, { deployment, chain }: Lane, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return;
  const numbers = moves.map(({ number }) => number);
  await sql`
    update pushes set number = -moved.next, content = text, digest = coalesce(moved.digest, pushes.digest), error = null,
      attempt_id = null, changed_at = now()
    from unnest(${numbers}::bigint[], ${moves.map(({ to }) => to)}::bigint[],
      ${moves.map(({ text }) => text)}::text[], ${moves.map(({ digest }) => digest)}::text[]) as moved (old, next, text, digest)
    where deployment = ${deployment} and chain = ${chain} and number = old
      and number between ${Math.min(...numbers)} and ${Math.max(...numbers)}`.execute(trx);
  await sql`
    update pushes set number = -number
    where deployment = ${deployment} and chain = ${chain} and number < 0`.execute(trx);
}
