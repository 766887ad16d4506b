import { operationOf } from '../../load/wrong-operations.js';
import type { Evidence } from './evidence.js';

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
