import { didYouMean, ServiceError } from '@orrery/contracts';
import { changeKey, type InstanceName } from '../journal/change.js';

/** The texts of `change_not_allowed`, by the fact `reason`. */
const TEXTS = {
  schema: ({ entitySchema }, { known = [] }) =>
    `The version's stateChanges does not name "${entitySchema}", so this event may not change instances of it.` +
    didYouMean(entitySchema, known),
  no_schema: ({ entitySchema }, { known = [] }) =>
    `The world has no entity schema "${entitySchema}".${didYouMean(entitySchema, known)}`,
  absent: (name) => `There is no instance ${changeKey(name)} to delete.`,
  not_loaded: (name) =>
    `${changeKey(name)} exists and was not read. A model may change what the version's readEntities loads.`,
  delete: (name) =>
    `This event may not delete ${changeKey(name)}: that takes "delete": true in the version's guards.`,
  create: (name) =>
    `There is no instance ${changeKey(name)}, and this version may change existing instances only: its guards say "create": false. ` +
    'Name an instance that exists, or create it first.',
  deny: (name, { attribute }) => `This event may not change "${attribute}" of ${changeKey(name)}.`,
  maxDelta: (name, { attribute, limit }) =>
    `This event may change "${attribute}" by at most ${limit} in ${changeKey(name)}.`,
} as const satisfies Record<string, (name: InstanceName, facts: Facts) => string>;

interface Facts {
  /** The attribute that a guard is about. */
  readonly attribute?: string;
  readonly limit?: number;
  /** Schemas that the version may change. */
  readonly known?: readonly string[];
}

/** A change of one instance that the version's mode map or guards do not allow. */
export function changeNotAllowed(
  reason: keyof typeof TEXTS,
  name: InstanceName,
  facts: Facts = {},
): ServiceError {
  const text: (name: InstanceName, facts: Facts) => string = TEXTS[reason];
  const { known: _, ...shown } = facts;
  return new ServiceError('change_not_allowed', text(name, facts), {
    facts: { key: changeKey(name), reason, ...shown },
  });
}

/** More instances changed than the guard `maxInstances` allows. */
export const tooManyChanged = (limit: number, changes: number): ServiceError =>
  new ServiceError('change_not_allowed', `This event may change at most ${limit} instances.`, {
    facts: { reason: 'maxInstances', limit, changes },
  });
