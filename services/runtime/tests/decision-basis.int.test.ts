import { ServiceError } from '@orrery/contracts';
import { connect, type Database } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { DeciderFailed } from '../src/core/prompting/model.js';
import { createDeciderDouble } from './decider-double.js';
import { modelNamed } from './model-double.js';
import { codeOf, plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const { hooks } = house.catalog;
const decider = createDeciderDouble();
let database: Database<unknown>;
beforeAll(async () => {
  const logger = createLogger({ service: 'test', level: 'error' });
  const options = { url: house.databaseUrl, schema: 'public', applicationName: 'test', logger };
  database = house.resources.use('looking on', await connect(options));
});

const running: AsyncDisposable[] = [];
afterEach(async () => {
  hooks.beforeSchemaClaim = undefined;
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
});

const models = [modelNamed('large', true), modelNamed('small')];

const draft = (event: string, versionId: number, decides: object) =>
  house.catalog.plantVersion({
    event,
    versionId,
    inputSchema: { id: 'string' },
    readEntities: [{ schema: 'counter', filter: ['id'] }],
    stateChanges: { counter: 'partial' },
    ...decides,
  });
const template = (label: string) => ({
  mutationSettings: { mode: 'direct' as const, template: { 'counter:{{input.id}}': { label } } },
});
let nextVersion = 100;

async function plant(decides: object) {
  running.push(await house.boot({ decider: decider.decider, models }));
  const versionId = nextVersion;
  nextVersion += 1;
  const event = `event_${versionId}`;
  draft(event, versionId, decides);
  const planted = await plantDeployment(house, { bindings: [{ event, eventVersion: 1 }] });
  const { params } = planted;
  const execute = (headers: Record<string, string> = {}) =>
    house.call('deployments.execute', { params, body: { event, input: { id: 'x' } }, headers });
  return {
    ...planted,
    event,
    execute,
    edit: (changed: object) => draft(event, versionId, changed),
    set: (body: object) => house.call('deployments.update', { params, body }),
    lock: async () => (await house.call('deployments.lock', { params })).data,
    run: async () => {
      const text = 'select state, evidence from runtime.runs where deployment_id = $1';
      const { rows } = await database.pool.query(text, [planted.deployment.id]);
      return rows[0];
    },
  };
}

/** Holds the next claim on a schema until it is opened: an execution that creates an instance waits there. */
function gateClaims() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    hooks.beforeSchemaClaim = () => {
      resolve();
      return opened;
    };
  });
  return { reached, open };
}

describe('a locked deployment', () => {
  it.each([[{}], [{ prefer: 'respond-async' }]])(
    'runs its locked template, whatever was confirmed before the lock, with the headers %j',
    async (headers) => {
      const { execute, edit, lock, counter, history } = await plant(template('a'));
      const gate = gateClaims();
      const execution = execute(headers);
      await gate.reached;
      const { versionHash } = edit(template('b'));
      await lock();
      gate.open();
      await execution;
      await vi.waitFor(async () => expect(await history()).toMatchObject([{ versionHash }]));
      expect(await counter('x')).toMatchObject({ state: { label: 'b' } });
    },
  );

  it('has a decision made before the lock made again, with its locked version, texts and model', async () => {
    const { execute, edit, lock, history } = await plant({ behaviorPrompt: 'Early.' });
    const gate = gateClaims();
    const answer = execute();
    const early = await decider.called();
    expect(early.request).toMatchObject({
      model: modelNamed('large', true),
      world: { promptSeed: 'Horses race.' },
    });
    early.answer({ 'counter:x': { label: 'a' } });
    await gate.reached;
    const { versionHash } = edit({ behaviorPrompt: 'Late.' });
    house.catalog.setPromptSeed('Horses fly.');
    await lock();
    house.catalog.setPromptSeed('Horses race.');
    gate.open();
    const late = await decider.calledBefore(answer);
    expect(late.request).toMatchObject({
      definition: { behaviorPrompt: 'Late.' },
      world: { promptSeed: 'Horses fly.' },
    });
    late.answer({ 'counter:x': { label: 'b' } });
    await answer;
    expect(await history()).toMatchObject([{ versionHash }]);
  });

  it('refuses what the catalog no longer has as it was locked', async () => {
    const { execute, edit, lock } = await plant(template('a'));
    await lock();
    edit(template('b'));
    expect(await codeOf(execute())).toBe('unknown_event_version');
  });
});

describe('a decision', () => {
  it.each<[string, (set: (body: object) => Promise<unknown>) => unknown, object]>([
    [
      'texts of the world',
      () => house.catalog.setPromptSeed('Horses sleep.'),
      { world: { promptSeed: 'Horses sleep.' } },
    ],
    ['model', (set) => set({ aiModelId: 'small' }), { model: modelNamed('small') }],
  ])('is made again when the %s changed meanwhile', async (_what, change, seen) => {
    const { execute, set, history } = await plant({ behaviorPrompt: 'Judge.' });
    const answer = execute();
    const first = await decider.called();
    await change(set);
    first.answer(
      { 'counter:x': { count: 1 } },
      { llm: { cost: 1, request: 'secret' }, llmHash: 'a'.repeat(64) },
    );
    const second = await decider.calledBefore(answer);
    expect(second.request).toMatchObject(seen);
    second.answer({ 'counter:x': { count: 2 } }, { llm: { cost: 2 }, llmHash: 'b'.repeat(64) });
    await answer;
    expect(await history()).toMatchObject([
      { llmHash: 'b'.repeat(64), llm: { cost: 2, earlier: [{ cost: 1 }] } },
    ]);
    expect(JSON.stringify(await history())).not.toContain('secret');
  });

  it.each<[string, 'edit' | 'rebind']>([
    ['the draft becomes a template', 'edit'],
    ['the event is bound to a version with a template', 'rebind'],
  ])('is left to the template when %s while the decider is called', async (_what, change) => {
    const { event, execute, edit, params, counter, history } = await plant({ behaviorPrompt: 'Judge.' });
    const answer = execute();
    const call = await decider.called();
    if (change === 'edit') edit(template('b'));
    else {
      draft(event, nextVersion, { ...template('b'), version: 2 });
      nextVersion += 1;
      await house.call('bindings.update', { params, body: [{ event, eventVersion: 2 }] });
    }
    call.answer({ 'counter:x': { label: 'a' } }, { llm: { cost: 1 } });
    await answer;
    expect(await counter('x')).toMatchObject({ state: { label: 'b' } });
    expect(await history()).toMatchObject([{ status: 'succeeded', llm: { cost: 1 } }]);
  });

  it('leaves its cost in the entry of a run that fails, and in the row of one that is refused', async () => {
    const { execute, params, run, history } = await plant({ behaviorPrompt: 'Judge.' });
    const failed = execute();
    const error = new ServiceError('ai_output_invalid', 'No JSON.');
    (await decider.called()).fail(new DeciderFailed(error, { llm: { cost: 3 } }));
    expect(await codeOf(failed)).toBe('ai_output_invalid');
    const cost = { llm: { cost: 3 }, llmHash: null, attestation: null };
    expect(await run()).toEqual({ state: 'failed', evidence: [cost] });
    expect(await history()).toMatchObject([{ status: 'failed', llm: { cost: 3 } }]);
    const refused = await plant({ behaviorPrompt: 'Judge.' });
    const answer = refused.execute();
    const { answer: say } = await decider.called();
    await house.call('deployments.pause', { params: refused.params });
    say({ 'counter:x': { count: 1 } }, { llm: { cost: 4 } });
    expect(await codeOf(answer)).toBe('deployment_paused');
    expect(await refused.run()).toEqual({ state: 'failed', evidence: [{ ...cost, llm: { cost: 4 } }] });
    expect(params).not.toEqual(refused.params);
  });

  it('is made five times at most; then the run fails with the cost of all of them', async () => {
    const { execute, history, run, set } = await plant({ behaviorPrompt: 'Judge.' });
    const answer = execute();
    for (let cost = 1; cost <= 5; cost += 1) {
      const call = await decider.calledBefore(answer);
      await set({ aiModelId: cost % 2 === 0 ? 'large' : 'small' });
      call.answer({ 'counter:x': { count: 1 } }, { llm: { cost } });
    }
    expect(await codeOf(answer)).toBe('write_conflict');
    const earlier = [1, 2, 3, 4].map((cost) => ({ cost }));
    expect(await history()).toMatchObject([
      { status: 'failed', error: { code: 'write_conflict' }, llm: { cost: 5, earlier } },
    ]);
    expect((await run()).evidence).toHaveLength(5);
  });
});
