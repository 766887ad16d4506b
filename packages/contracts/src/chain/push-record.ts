import { z } from 'zod';

/**
 * How far a push has come. `unknown`: the chain-pusher did not answer when the history was read; the push itself goes on.
 *
 *   queued ─→ submitted ─→ confirmed ─→ finalized
 *     ↑           │ (a reorganization, or a transaction that can no longer be included)
 *     ├───────────┘
 *     └─ retry, skip ─ failed (stops the deployment's later pushes to this chain)
 *   queued ─→ cancelled (the deployment was deleted)
 */
export const pushStatus = z
  .enum(['queued', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'unknown'])
  .meta({ id: 'PushStatus' });
export type PushStatus = z.infer<typeof pushStatus>;

/** Why a push failed, or what a queued one waits for. */
const pushProblem = z.strictObject({ code: z.string(), detail: z.string() }).meta({ id: 'PushProblem' });
export type PushProblem = z.infer<typeof pushProblem>;

const shape = {
  chain: z.string(),
  /** 1, 2, 3 … per deployment and chain; null until the chain-pusher has taken the execution in. */
  number: z.int().nullable(),
  status: pushStatus,
  /** The transaction's hash (EVM) or signature (Solana). */
  transaction: z.string().nullable(),
  /** Number of the block (EVM) or the slot (Solana) that holds it. */
  block: z.int().nullable(),
  explorerUrl: z.string().nullable(),
  error: pushProblem.nullable(),
};

/** How one push of an execution stands, as its history entry shows it. */
export const pushSummary = z.strictObject(shape).meta({ id: 'PushSummary' });
export type PushSummary = z.infer<typeof pushSummary>;

/** A push in the list of a deployment. */
export const pushRecord = z
  .strictObject({
    historyId: z.string(),
    seq: z.int(),
    ...shape,
    /** Whether only the digest goes on-chain. */
    truncated: z.boolean(),
    /** SHA-256 of the content as canonical JSON. */
    digest: z.string(),
  })
  .meta({ id: 'Push' });
export type PushRecord = z.infer<typeof pushRecord>;
