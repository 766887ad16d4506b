import type { components } from '@orrery/sdk';

type Schemas = components['schemas'];

export type PublicDeployment = Schemas['PublicDeployment'];
export type PublicEvent = Schemas['PublicEvent'];
export type Change = Schemas['InstanceChange'];
export type State = Readonly<Record<string, unknown>>;
/** An entry of the journal as anyone sees it, read or told live. */
export type Entry = Omit<Schemas['LiveExecution'], 'input'> & { readonly input?: Record<string, unknown> };

/** An instance of some schema. */
export interface Row {
  readonly id: string;
  readonly state: State;
  /** Attribute → the entry that changed it while the page looked on. */
  readonly changed: Readonly<Record<string, number>>;
}

/** The instances of a schema that the page has. */
export interface Rows {
  readonly rows: ReadonlyMap<string, Row>;
  /** How many there are. */
  readonly total: number;
  /** There are more than `total`. */
  readonly isMinimum: boolean;
}

/** What a search has found. */
export interface Found {
  readonly rows: readonly Row[];
  /** There are more. */
  readonly isCut: boolean;
}

/** Whether the page has all instances of the schema. */
export const isWhole = ({ rows, total, isMinimum }: Rows): boolean => !isMinimum && rows.size >= total;
