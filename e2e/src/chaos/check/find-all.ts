import { findScheduleViolations } from '../../invariants/find-schedule-violations.js';
import { findViolations } from '../../invariants/find-violations.js';
import { wrongOperations } from '../../load/wrong-operations.js';
import type { Evidence } from './evidence.js';
import { wrongDecisions } from './model.js';
import { wrongPayments } from './payments.js';
import { wrongPushes } from './pushes.js';

/** A promise that was broken: which, and where a reader finds it. */
export interface Violation {
  readonly invariant: string;
  readonly what: string;
}

/** Looks at everything that is checked when nothing is under way any more. */
export async function findAll(databaseUrl: string, evidence: Evidence): Promise<Violation[]> {
  const { violations, duplicates } = await findScheduleViolations(databaseUrl);
  const twice = duplicates === 0 ? [] : [`${duplicates} due times were executed twice`];
  return [
    ...named('journals and states', await findViolations(databaseUrl)),
    ...named('each operation at most once', wrongOperations(evidence)),
    ...named('schedules', [...violations, ...twice]),
    ...named('payments', wrongPayments(evidence)),
    ...named('pushes', wrongPushes(evidence)),
    ...named('decisions of models', wrongDecisions(evidence)),
  ];
}

export const named = (invariant: string, found: readonly string[]): Violation[] =>
  found.map((what) => ({ invariant, what }));
