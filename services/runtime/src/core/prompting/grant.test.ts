import { ServiceError } from '@orrery/contracts';
import { expect, it } from 'vitest';
import { type Claim, grant, withoutAmounts } from './grant.js';

const claim = (
  executionId: string,
  usd: number,
  deploymentId = 1,
  dailyBudgetUsd: number | null = 1,
): Claim => ({
  payer: { executionId, deploymentId, accountId: 1, event: 'judge', dailyBudgetUsd, deadline: 0 },
  usd,
});
const spent = (usd: number, own: Record<string, number> = {}) => ({
  ofDeployments: new Map([[1, usd]]),
  own: new Map(Object.entries(own)),
});
const limitedBy = (...granted: ReturnType<typeof grant>) =>
  granted.map((refusal) => refusal?.facts['limitedBy']);

it('grants claims in their order, each on top of those granted before it', () => {
  const claims = [claim('a', 0.5), claim('b', 0.5), claim('c', 0.25)];
  expect(limitedBy(...grant(spent(0.25), null, claims))).toEqual([undefined, 'deployment', undefined]);
});

it('bounds the deployments of an account one by one, and together by its quota', () => {
  const claims = [claim('a', 1), claim('b', 1, 2), claim('c', 1, 3, null), claim('d', 0.5, 3, null)];
  expect(limitedBy(...grant(spent(0), null, claims))).toEqual([undefined, undefined, undefined, undefined]);
  expect(limitedBy(...grant(spent(0.5), 2.5, claims))).toEqual([
    'deployment',
    undefined,
    undefined,
    'account',
  ]);
});

it('counts the claim of an execution in place of what it has reserved before', () => {
  const ledger = spent(0.75, { a: 0.5 });
  expect(limitedBy(...grant(ledger, null, [claim('a', 0.75), claim('b', 0.25)]))).toEqual([
    undefined,
    'deployment',
  ]);
  expect(limitedBy(...grant(ledger, null, [claim('a', 1), claim('b', 0.25)]))).toEqual([
    'deployment',
    undefined,
  ]);
});

it('tells what is spent, without the claim', () => {
  const [refusal] = grant(spent(0.75), null, [claim('a', 0.5)]);
  expect(refusal).toMatchObject({
    code: 'budget_exhausted',
    facts: { limitUsd: 1, spentUsd: 0.75, requestUsd: 0.5 },
  });
});

it('advises to wait for the next day only where that helps', () => {
  const [wait] = grant(spent(0.75), null, [claim('a', 1)]);
  expect(wait?.message).toMatch('The next day begins');
  const [raise] = grant(spent(0), null, [claim('a', 1.5)]);
  expect(raise?.message).toMatch('covers on no day what this request may cost: raise it');
});

it('tells others than the owner whose budget is spent, and no amount', () => {
  const [refusal] = grant(spent(0.75), null, [claim('a', 0.5)]);
  const told = withoutAmounts(withEntry(refusal));
  expect(told).toMatchObject({ code: 'budget_exhausted', facts: { limitedBy: 'deployment', seq: 3 } });
  expect(Object.keys(told.facts)).toEqual(['limitedBy', 'seq']);
  expect(told.message).toMatch(/^The budget of the deployment [^0-9]*00:00 UTC\.$/);
  const other = new ServiceError('unavailable', 'Away.', { facts: { limitUsd: 1 } });
  expect(withoutAmounts(other)).toBe(other);
});

const withEntry = (error?: ServiceError) =>
  new ServiceError(error?.code ?? 'internal', error?.message, { facts: { ...error?.facts, seq: 3 } });
