import { statements } from '@orrery/database';

/**
 * With several databases each process copies to the directory which payments may still be charged, and what models have cost
 * since yesterday (`store/runs/account-wide.ts`): a few of the rows, all of which are kept.
 */
export const accountWide = statements(`
  create index payments_by_validity on runtime.payments (valid_until);
  create index ai_usage_by_day on runtime.ai_usage (day);
`);
