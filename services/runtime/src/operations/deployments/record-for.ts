import type { DeploymentRecord } from '@orrery/contracts';
import { toRecord } from '../../store/deployments/deployment-directory.js';

/** What an account is told of a deployment that it sees: the budget is its owner's affair. */
export function recordFor(
  accountId: number | null | undefined,
  row: Parameters<typeof toRecord>[0],
): DeploymentRecord {
  const record = toRecord(row);
  return row.owner_account_id === accountId ? record : { ...record, aiDailyBudgetUsd: null };
}
