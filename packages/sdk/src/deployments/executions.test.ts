import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { answering, refusing, type Step, startScriptedServer } from '../../tests/scripted-server.js';
import { createOrrery, type Orrery } from '../orrery.js';

async function against(...steps: Step[]): Promise<Orrery> {
  const server = await startScriptedServer(...steps);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return createOrrery({ url: server.url, token: 'secret' });
}

const RACE = { event: 'race', input: {} };
const decided = { event: 'race', eventVersion: 1, stateChanges: {}, result: null, attestation: null };
const committed = { historyId: 'h', seq: 2, ...decided, pushes: [] };
const dryRun = { dryRun: true, ...decided, prompt: null, llm: null };
const accepted = { executionId: 'e', state: 'running' };

it.each([
  ['this release', (kind: string) => ({ kind })],
  ['the release before, which have no kind', () => ({})],
])('takes the answers of %s', async (_, withKind) => {
  const succeeded = { ...committed, ...withKind('committed') };
  const tried = { ...dryRun, ...withKind('dry_run') };
  const begun = answering({ ...accepted, ...withKind('accepted') }, 202);
  const ended = answering({ executionId: 'e', state: 'succeeded', answer: succeeded });
  const orrery = await against(answering(succeeded), answering(tried), answering(tried), begun, ended);
  const deployment = orrery.deployment('0xabc', '0xdef');
  expect(await deployment.execute(RACE)).toEqual(succeeded);
  expect(await deployment.dryRun(RACE)).toEqual(tried);
  expect(await deployment.tryVersion({ ...RACE, definition: {} })).toEqual(tried);
  expect(await deployment.waitFor(await deployment.start(RACE))).toEqual(succeeded);
  const visitor = await against(begun, ended, answering(succeeded));
  const by = { wallet: 'w', message: 'm', signature: 's' };
  const awaited: string[] = [];
  const cheer = {
    deployment: '0xdef',
    event: 'race',
    by,
    onAwaitingPayment: (id: string) => awaited.push(id),
  };
  expect(await visitor.executePublic(cheer)).toEqual({ ...succeeded, settlement: null });
  expect(awaited).toEqual(['e']);
});

it('waits for the outcome of a public execution that an earlier request has begun', async () => {
  const server = await startScriptedServer(
    refusing(409, 'request_in_flight'),
    refusing(409, 'request_in_flight'),
    answering(committed),
  );
  onTestFinished(() => server[Symbol.asyncDispose]());
  // As when the time for repetitions is over.
  const visitor = createOrrery({ url: server.url, retryForMs: 0 });
  const by = { wallet: 'w', message: 'm', signature: 's' };
  const outcome = await visitor.executePublic({ deployment: '0xdef', event: 'race', by });
  expect(outcome).toEqual({ ...committed, settlement: null });
  expect(new Set(server.received.map(({ body }) => body)).size).toBe(1);
});

it('knows that an execution has failed that has ended so', async () => {
  const error = { code: 'template_failed', detail: 'No.', facts: { historyId: 'h' } };
  const orrery = await against(answering({ executionId: 'e', state: 'failed', error }));
  const failed = await orrery
    .deployment(1, 2)
    .waitFor('e')
    .catch((caught) => caught);
  expect(failed).toMatchObject({ code: 'template_failed', isUndecided: false });
});

describe('what is said of a payment that cannot be read', () => {
  const broken = ['%%%', btoa('no JSON'), btoa('5')];
  const CHEER = { deployment: '0xdef', event: 'race', by: { wallet: 'w', message: 'm', signature: 's' } };

  it.each(broken)('does not hide what was executed (%s)', async (header) => {
    const paid: Step = (reply, request) => {
      reply.setHeader('payment-response', header);
      answering(committed)(reply, request);
    };
    const visitor = await against(paid);
    expect(await visitor.executePublic(CHEER)).toEqual({ ...committed, settlement: null });
  });

  it.each(broken)('leaves the refusal as it is, and nothing is paid (%s)', async (header) => {
    const createPaymentPayload = vi.fn();
    const visitor = await against(
      refusing(402, 'payment_required', { headers: { 'payment-required': header } }),
    );
    const refusal = visitor.executePublic({ ...CHEER, payer: { createPaymentPayload } });
    await expect(refusal).rejects.toMatchObject({ code: 'payment_required', paymentRequired: null });
    expect(createPaymentPayload).not.toHaveBeenCalled();
  });
});

it.each<[Step, boolean]>([
  [refusing(503, 'unavailable', { facts: { outcome: 'unknown' } }), true],
  [(reply) => void reply.writeHead(502).end('a proxy'), true],
  [refusing(503, 'overloaded'), false],
  [refusing(409, 'write_conflict'), false],
])('says whether an outcome is undecided (%#)', async (step, isUndecided) => {
  const server = await startScriptedServer(step);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const deployment = createOrrery({ url: server.url, token: 'secret', retryForMs: 0 }).deployment(1, 2);
  await expect(deployment.execute(RACE)).rejects.toMatchObject({ isUndecided });
});
