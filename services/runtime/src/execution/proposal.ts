import type { JsonObject, JsonValue } from '@orrery/contracts';
import type { InstanceName } from '../journal/change.js';

/** What a template or a model wants done to one instance. */
export interface ProposedChange extends InstanceName {
  /** `$delete` in place of attributes. */
  remove: boolean;
  /** Values that the schema's mode merges. */
  values: JsonObject;
  /** Operators, resolved against the current state; their outcome is set whatever the mode. */
  operators: readonly ProposedOperation[];
}

export interface ProposedOperation {
  attribute: string;
  /** The outcome for the attribute's present value; `undefined` leaves the attribute out. Throws ServiceError. */
  resolve(current: JsonValue | undefined): JsonValue | undefined;
}

/** The outcome of *decide*: unchecked, so nothing that commits takes it. */
export interface Proposal {
  /** A model may only change what it was shown, and removes only where the guards allow it in so many words. */
  from: 'template' | 'model' | 'writer';
  changes: readonly ProposedChange[];
  result: JsonObject | null;
}
