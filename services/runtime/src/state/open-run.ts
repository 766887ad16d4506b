import type { Insertable, Updateable } from 'kysely';
import type { RuntimeTables } from '../database/schema.js';

/** What a run keeps from being changed by others. */
export interface Holds {
  /** As changes name them, `horse:HORSE_1`; also ones that do not exist. */
  readonly instances: readonly string[];
  /** Schemas of which no instance may be changed, created or deleted. */
  readonly schemas: readonly string[];
}

/** A run under way, as far as the deployment's other items must know of it. */
export interface OpenRun {
  readonly id: string;
  /** The Idempotency-Key that it has claimed. */
  readonly claim: { readonly place: string; readonly requestHash: string } | null;
  readonly holds: Holds | null;
  /** Its outcome waits for a payment: what it runs may not change any more. */
  readonly staged: boolean;
}

/** What an item does to a run: its row, and how it stands from here on; `open` null: it has ended. */
export interface RunEffect {
  readonly id: string;
  readonly open: OpenRun | null;
  readonly write:
    | { readonly insert: Insertable<RuntimeTables['runs']> }
    | { readonly update: Updateable<RuntimeTables['runs']> };
}
