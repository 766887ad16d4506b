import type { JsonValue } from '@orrery/contracts';
import type { Updateable } from 'kysely';
import type { RuntimeTables } from '../database/schema.js';
import type { SealedEntry } from '../journal/entry.js';
import type { Lease } from '../ownership/lease-store.js';
import type { Binding, DeploymentState } from './deployment-state.js';
import type { Effects, KeyedEffect } from './effects.js';
import type { RunEffect } from './open-run.js';

/** An instance that the batch touches; its row is written once, as the last item leaves it. */
export interface TouchedInstance {
  readonly state: DeploymentState;
  readonly entitySchema: string;
  readonly instanceId: string;
  readonly existedBefore: boolean;
  /** Deleted and created again within the batch, so its row gets a new id. */
  recreated: boolean;
}

/** Full states kept beside the journal. */
export interface KeptState {
  readonly deploymentId: number;
  readonly entitySchema: string;
  readonly instanceId: string;
  readonly seq: number;
  readonly revision: number;
  readonly state: JsonValue;
}

/** What is rare and written by statements of its own, in the order in which it was decided. */
export type RareEffect = { readonly deploymentId: number } & (
  | { readonly row: Updateable<RuntimeTables['deployments']> }
  | { readonly putBinding: Binding }
  | { readonly removeBinding: string }
  | { readonly run: RunEffect }
);

/** Everything that one database commit writes. */
export interface Batch {
  readonly deployments: Map<number, DeploymentState>;
  readonly leases: Map<number, Lease>;
  readonly entries: {
    readonly deploymentId: number;
    readonly entry: SealedEntry;
    readonly effects: Effects;
  }[];
  readonly touched: Map<string, TouchedInstance>;
  readonly kept: KeptState[];
  readonly claims: {
    readonly deploymentId: number;
    readonly entitySchema: string;
    readonly schemaId: number;
  }[];
  readonly keys: (KeyedEffect & { readonly reply: JsonValue; readonly at: Date })[];
  readonly rare: RareEffect[];
  /** Bytes of the entries' JSON, roughly. */
  bytes: number;
}

export const newBatch = (): Batch => ({
  deployments: new Map(),
  leases: new Map(),
  entries: [],
  touched: new Map(),
  kept: [],
  claims: [],
  keys: [],
  rare: [],
  bytes: 0,
});

export const isEmpty = ({ entries, rare }: Batch): boolean => entries.length === 0 && rare.length === 0;
