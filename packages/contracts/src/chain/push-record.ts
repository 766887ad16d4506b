import { z } from 'zod';
import { count, nullableText, ordinal } from '../records/fields.js';

/**
 * How far a push has come.
 *
 *   queued ─→ submitted ─→ confirmed ─→ finalized
 *     ↑           │ (a reorganization, or a transaction that can no longer be included)
 *     ├───────────┘
 *     └─ retry, skip ─ failed (stops the deployment's later pushes to this chain)
 *   queued ─→ cancelled (the deployment was deleted)
 */
export const pushStatus = z
  .enum(['queued', 'submitted', 'confirmed', 'finalized', 'failed', 'cancelled', 'unknown'])
  .meta({
    id: 'PushStatus',
    description:
      'How far a push has come: `queued`, `submitted`, `confirmed` in a block, `finalized` for ever. `failed` stops the later ' +
      'pushes of the deployment to the chain; `cancelled`: the deployment was deleted; `unknown`: the chain-pusher did not ' +
      'answer when the history was read.',
  });
export type PushStatus = z.infer<typeof pushStatus>;

const pushProblem = z
  .strictObject({
    code: z.string().describe('The reason, for programs.'),
    detail: z.string().describe('The reason, for people.'),
  })
  .meta({ id: 'PushProblem', description: 'Why a push failed, or what a queued one waits for.' });
export type PushProblem = z.infer<typeof pushProblem>;

const shape = {
  chain: z.string().describe('Name of the chain.'),
  number: ordinal
    .nullable()
    .describe('1, 2, 3 … per deployment and chain. Null: the chain-pusher has not read the execution yet.'),
  status: pushStatus.describe('How far it has come.'),
  transaction: nullableText.describe('Hash (EVM) or signature (Solana) of the transaction. Null: none yet.'),
  block: count
    .nullable()
    .describe('Number of the block (EVM) or the slot (Solana) that holds it. Null: none yet.'),
  explorerUrl: nullableText.describe(
    'The transaction in a block explorer. Null: none is configured, or none yet.',
  ),
  error: pushProblem.nullable().describe('Why it failed, or what it waits for. Null: neither.'),
};

export const pushSummary = z
  .strictObject(shape)
  .meta({ id: 'PushSummary', description: 'How one push of an execution stands.' });
export type PushSummary = z.infer<typeof pushSummary>;

export const pushRecord = z
  .strictObject({
    historyId: z.string().describe('Id of the history entry of the execution.'),
    seq: ordinal.describe('Position of that entry in the journal.'),
    ...shape,
    truncated: z.boolean().describe('Whether only the digest goes on-chain.'),
    digest: z.string().describe('SHA-256 of the content as canonical JSON: 64 lowercase hex digits.'),
  })
  .meta({ id: 'Push', description: 'A push of an execution to a chain.' });
export type PushRecord = z.infer<typeof pushRecord>;
