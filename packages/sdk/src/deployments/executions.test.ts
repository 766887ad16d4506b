import { expect, it, onTestFinished } from 'vitest';
import { answering, type Step, startScriptedServer } from '../../tests/scripted-server.js';
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
