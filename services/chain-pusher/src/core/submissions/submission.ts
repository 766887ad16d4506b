import type { SignedTransaction } from '../chains/chain-port.js';

/**
 *   open ─→ included ─→ confirmed ─→ final       open ─→ dead: dropped, it can no longer be included or had no effect
 *     ↑        │            │
 *     └────────┴────────────┘ the chain took its block back
 */
export type SubmissionState = 'open' | 'included' | 'confirmed' | 'final' | 'dead';

/** One try to bring consecutive pushes of a lane onto a chain, with its transactions, oldest first. */
export interface Submission {
  readonly id: number;
  readonly chain: string;
  readonly signer: string;
  /** Empty of one that only uses up its nonce; `to` is below `from` then. */
  readonly deployment: string;
  /** Of an EVM account; null where the chain has no such sequence. */
  readonly nonce: number | null;
  readonly from: number;
  readonly to: number;
  readonly state: SubmissionState;
  readonly block: number | null;
  readonly blockId: string | null;
  readonly transactions: readonly SubmittedTransaction[];
}

export interface SubmittedTransaction extends SignedTransaction {
  /** How long ago it was signed, in milliseconds by the database's clock. */
  readonly ageMs: number;
  /** How long ago it was last sent; null for never. */
  readonly sentAgoMs: number | null;
  /** How long ago a node first weighed its fee: took it, or called it too low. Null for never: a higher fee would be of no use. */
  readonly weighedAgoMs: number | null;
}
