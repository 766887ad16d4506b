import { findScheduleViolations } from '../../invariants/find-schedule-violations.js';
import { findViolations } from '../../invariants/find-violations.js';
import { operationOf, wrongOperations } from '../../load/wrong-operations.js';
import type { Evidence } from './evidence.js';
import { wrongFollowUps } from './follow-ups.js';
import { wrongPayments } from './payments.js';
import { wrongPushes } from './pushes.js';
import { wrongWebhooks } from './webhooks.js';

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
    ...named('follow-ups', wrongFollowUps(evidence)),
    ...named('payments', wrongPayments(evidence)),
    ...named('pushes', wrongPushes(evidence)),
    ...named('webhooks', wrongWebhooks(evidence)),
    ...named('decisions of models', wrongDecisions(evidence)),
  ];
}

export const named = (invariant: string, found: readonly string[]): Violation[] =>
  found.map((what) => ({ invariant, what }));

/** What a model decided is the answer to this very operation, and the model was asked about it. */
export function wrongDecisions({ entries, asked }: Pick<Evidence, 'entries' | 'asked'>): string[] {
  const known = new Set(asked);
  return entries
    .filter(({ event, status }) => event === 'judge' && status === 'succeeded')
    .flatMap((entry) => {
      const operation = operationOf(entry);
      const found: string[] = [];
      if (entry.result?.['operation'] !== operation)
        found.push(`has the result ${JSON.stringify(entry.result)}`);
      if (operation === undefined || !known.has(operation)) found.push('was never put to the model');
      return found.map(
        (what) => `ai operation ${operation}, entry ${entry.seq} of ${entry.deployment}, ${what}`,
      );
    });
}
