import { ServiceError } from '@orrery/contracts';

/** The execution that a request to a model belongs to, and who pays for it. */
export interface Payer {
  readonly executionId: string;
  readonly deploymentId: number;
  readonly accountId: number;
  readonly event: string;
  /** Of the deployment, in US dollars a UTC day; null for none. */
  readonly dailyBudgetUsd: number | null;
  /** In milliseconds, by the monotonic clock before it is stored; what nobody has settled by then is released. */
  readonly deadline: number;
}

/** US dollars of an account on one day that are spent or reserved. */
export interface Ledger {
  readonly ofDeployments: ReadonlyMap<number, number>;
  /** The part of it that executions that ask now have reserved before: a new reservation takes its place. */
  readonly own: ReadonlyMap<string, number>;
}

/** What one request to a model may cost at most, in US dollars. */
export interface Claim {
  readonly payer: Payer;
  readonly usd: number;
}

/**
 * Decides claims of one account in their order: each is granted (`undefined`) or refused by what the ledger and the
 * claims granted before it leave of its deployment's budget and the account's quota.
 */
export function grant(
  ledger: Ledger,
  quota: number | null,
  claims: readonly Claim[],
): readonly (ServiceError | undefined)[] {
  const ofDeployments = new Map(ledger.ofDeployments);
  const own = new Map(ledger.own);
  let ofAccount = [...ofDeployments.values()].reduce((sum, usd) => sum + usd, 0);
  return claims.map(({ payer: { executionId, deploymentId, dailyBudgetUsd }, usd }) => {
    const before = own.get(executionId) ?? 0;
    const deployment = (ofDeployments.get(deploymentId) ?? 0) - before;
    const account = ofAccount - before;
    const refusal = refusalOf({ deployment: dailyBudgetUsd, account: quota }, { deployment, account }, usd);
    if (refusal !== undefined) return refusal;
    own.set(executionId, usd);
    ofDeployments.set(deploymentId, deployment + usd);
    ofAccount = account + usd;
    return undefined;
  });
}

type Limited = 'deployment' | 'account';
const OF: Readonly<Record<Limited, string>> = {
  deployment: 'budget of the deployment',
  account: 'quota of the account',
};

function refusalOf(
  limits: Readonly<Record<Limited, number | null>>,
  spent: Readonly<Record<Limited, number>>,
  usd: number,
): ServiceError | undefined {
  for (const of of ['deployment', 'account'] as const) {
    const limit = limits[of];
    if (limit === null || spent[of] + usd <= limit) continue;
    const told =
      usd > limit
        ? `The ${OF[of]} for AI models covers on no day what this request may cost: raise it, choose a cheaper model, or read less.`
        : `The ${OF[of]} for AI models does not cover another request today. The next day begins at 00:00 UTC.`;
    return new ServiceError('budget_exhausted', told, {
      facts: { limitedBy: of, limitUsd: limit, spentUsd: spent[of], requestUsd: usd },
    });
  }
  return undefined;
}

/**
 * An error as everybody may see it who reads the journal or executes publicly: budgets, and what an account has spent, are
 * its owner's affair.
 */
export function withoutAmounts(error: ServiceError): ServiceError {
  const { code, message, errors, cause, facts } = error;
  if (code !== 'budget_exhausted') return error;
  const { limitUsd: _limit, spentUsd: _spent, requestUsd: _request, ...told } = facts;
  return new ServiceError(code, message, { errors, facts: told, cause });
}
