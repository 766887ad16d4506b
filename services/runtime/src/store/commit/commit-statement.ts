import type pg from 'pg';
import { type Lease, partitionOf } from '../leases/leases.js';
import { type Batch, type BatchRows, batchRows, hasRows } from './batch.js';
import {
  ALWAYS,
  HEADS,
  HEADS_FIT,
  INDEXED,
  KEYS,
  KEYS_FREE,
  KEYS_RESULT,
  LEASES,
  LEASES_AND_HEADS_RESULT,
  LEASES_HELD,
  ONCE,
  RUNS,
  RUNS_FIT,
  RUNS_RESULT,
  SELDOM,
  SOMETIMES,
  TIMED,
  TIMERS,
  TIMERS_FIT,
  TIMERS_RESULT,
  UNINDEXED,
} from './statement-parts.js';

/** The statement writes only if all conditions hold; otherwise it answers which do not. */
const heldIf = (...conditions: readonly string[]) =>
  `held as materialized (select ${conditions.join(' and ')} as ok)`;

/** A statement whose parameters have numbers in place of names. */
function statement(name: string, parts: readonly string[], result: readonly string[]) {
  const parameters: (keyof BatchRows)[] = [];
  const text = `with ${parts.join(', ')}\nselect ${result.join(', ')} from held`.replaceAll(
    /\$([a-z]+)/gi,
    (_, named: keyof BatchRows) => {
      if (!parameters.includes(named)) parameters.push(named);
      return `$${parameters.indexOf(named) + 1}`;
    },
  );
  return { name, text, parameters };
}

const CHECKED = [LEASES, HEADS, heldIf(LEASES_HELD, HEADS_FIT)];
const WHOLE = [
  ...[LEASES, HEADS, RUNS, KEYS, TIMERS],
  heldIf(LEASES_HELD, HEADS_FIT, RUNS_FIT, KEYS_FREE, TIMERS_FIT),
];
const TIMERS_CHECKED = [LEASES, HEADS, TIMERS, heldIf(LEASES_HELD, HEADS_FIT, TIMERS_FIT)];
const ONCE_CHECKED = [LEASES, HEADS, KEYS, heldIf(LEASES_HELD, HEADS_FIT, KEYS_FREE)];
const WHOLE_RESULT = [LEASES_AND_HEADS_RESULT, RUNS_RESULT, KEYS_RESULT, TIMERS_RESULT];

/** Of those that suffice for a batch, the first is the shortest. */
const STATEMENTS = [
  statement('commit-plain-batch', [...CHECKED, ALWAYS], [LEASES_AND_HEADS_RESULT]),
  statement('commit-once-batch', [...ONCE_CHECKED, ALWAYS, ONCE], [LEASES_AND_HEADS_RESULT, KEYS_RESULT]),
  statement('commit-batch', [...CHECKED, ALWAYS, SOMETIMES], [LEASES_AND_HEADS_RESULT]),
  statement('commit-indexed-batch', [...CHECKED, ALWAYS, INDEXED], [LEASES_AND_HEADS_RESULT]),
  statement(
    'commit-once-indexed-batch',
    [...ONCE_CHECKED, ALWAYS, ONCE, INDEXED],
    [LEASES_AND_HEADS_RESULT, KEYS_RESULT],
  ),
  statement(
    'commit-usual-indexed-batch',
    [...CHECKED, ALWAYS, SOMETIMES, INDEXED, UNINDEXED],
    [LEASES_AND_HEADS_RESULT],
  ),
  statement(
    'commit-timers-batch',
    [...TIMERS_CHECKED, ALWAYS, SOMETIMES, TIMED],
    [LEASES_AND_HEADS_RESULT, TIMERS_RESULT],
  ),
  statement(
    'commit-whole-batch',
    [...WHOLE, ALWAYS, SOMETIMES, ONCE, SELDOM, TIMED, INDEXED, UNINDEXED],
    WHOLE_RESULT,
  ),
] as const;
export const [
  PLAIN_STATEMENT,
  ONCE_STATEMENT,
  USUAL_STATEMENT,
  INDEXED_STATEMENT,
  ONCE_INDEXED_STATEMENT,
  USUAL_INDEXED_STATEMENT,
  TIMERS_STATEMENT,
  WHOLE_STATEMENT,
] = STATEMENTS;

/** The whole batch as one statement: one round trip and one flush. */
export function commitStatement(rows: BatchRows) {
  const used = Object.entries(rows).flatMap(([name, some]) =>
    hasRows(some) ? [name as keyof BatchRows] : [],
  );
  const enough = STATEMENTS.find(({ parameters }) => used.every((one) => parameters.includes(one)));
  const { name, text, parameters } = enough ?? WHOLE_STATEMENT;
  return { name, text, values: parameters.map((one) => rows[one]) };
}

/** What the database has instead of what the batch expects; nothing was written. */
export interface Refusal {
  readonly kind: 'refused';
  /** Leases of the batch that are not held any more under their epochs. */
  readonly lost: readonly Lease[];
  /** Journals that end elsewhere although their leases are held; `seq` and `hash` are null for a journal that does not exist. */
  readonly heads: readonly {
    readonly deploymentId: number;
    readonly seq: number | null;
    readonly hash: string | null;
  }[];
  /** Runs that are at another step although their leases are held, by id. */
  readonly runs: readonly string[];
  /** Once-keys that are claimed already. */
  readonly keys: readonly { readonly scope: string; readonly key: string }[];
  /** Timers that are not there any more, or are with a run. */
  readonly timers: readonly string[];
}

export type CommitOutcome = { readonly kind: 'committed' } | Refusal;

export type CommitBatch = (batch: Batch) => Promise<CommitOutcome>;

interface Answer {
  readonly ok: boolean;
  readonly held: readonly number[] | null;
  readonly heads: Refusal['heads'] | null;
  readonly runs?: Refusal['runs'] | null;
  readonly keys?: Refusal['keys'] | null;
  readonly timers?: Refusal['timers'] | null;
}

/**
 * Writes a batch durably, all of it or nothing. Rejects with the database's error; `classifyPostgresError` says whether
 * the batch may have been written then.
 */
export function createCommit({ pool }: { pool: Pick<pg.Pool, 'query'> }, instance: string): CommitBatch {
  return async (batch) => {
    const { rows } = await pool.query<Answer>(commitStatement(batchRows(batch, instance)));
    const [answer] = rows;
    if (answer === undefined) throw new Error('the commit statement answered no row');
    return answer.ok ? { kind: 'committed' } : refusalOf(batch, answer);
  };
}

/** Heads and runs of a lost lease are left out: its new owner moves them. */
function refusalOf(batch: Batch, { held, heads, runs, keys, timers }: Answer): Refusal {
  const still = new Set(held);
  const isHeld = (deploymentId: number | undefined) =>
    deploymentId !== undefined && still.has(partitionOf(deploymentId));
  return {
    kind: 'refused',
    lost: [...batch.leases.values()].filter(({ partition }) => !still.has(partition)),
    heads: (heads ?? []).filter(({ deploymentId }) => isHeld(deploymentId)),
    runs: (runs ?? []).filter((id) => isHeld(batch.runs.get(id)?.deploymentId)),
    keys: keys ?? [],
    timers: timers ?? [],
  };
}
