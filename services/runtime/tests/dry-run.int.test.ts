import { type JsonObject, ServiceError } from '@orrery/contracts';
import { afterEach, describe, expect, it } from 'vitest';
import { DeciderFailed } from '../src/core/prompting/model.js';
import { createDeciderDouble } from './decider-double.js';
import { modelNamed } from './model-double.js';
import { codeOf, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const decider = createDeciderDouble();
house.catalog.plantVersion({
  event: 'judge',
  versionId: 100,
  inputSchema: { id: 'string' },
  readEntities: [{ schema: 'counter', filter: ['id'] }],
  stateChanges: { counter: 'partial' },
  behaviorPrompt: 'Judge.',
});
house.catalog.plantVersion({
  event: 'judge',
  version: 2,
  versionId: 101,
  mutationSettings: { mode: 'direct', template: { 'counter:a': { count: 22 } } },
});

const running: AsyncDisposable[] = [];
afterEach(async () => {
  for (const runtime of running.splice(0)) await runtime[Symbol.asyncDispose]();
});

async function plant() {
  const models = [modelNamed('large', true), modelNamed('small')];
  running.push(await house.boot({ decider: decider.decider, models }));
  const planted = await plantDeployment(house, { bindings: [{ event: 'judge', eventVersion: 1 }] });
  const tryOut = (query: object = {}, event = 'judge') =>
    planted.execute({ id: 'a' }, { query: { dryRun: 'true', ...query } }, event);
  return { ...planted, tryOut };
}

describe('a dry run that a model decides', () => {
  it('answers the prompt and what the proposal would change, and commits nothing', async () => {
    const { tryOut, counter, history } = await plant();
    const answer = tryOut();
    const { request, answer: say } = await decider.called();
    expect(request).toMatchObject({ model: modelNamed('large', true), entities: { counter: {} } });
    const llm = { model: 'large', request: { messages: ['Judge.'] }, response: '{}' };
    say({ 'counter:a': { count: 7 } }, { llm, attestation: { quote: 'q' } });
    expect((await answer).data).toEqual({
      kind: 'dry_run',
      dryRun: true,
      event: 'judge',
      eventVersion: 1,
      stateChanges: { 'counter:a': { count: 7 } },
      result: null,
      attestation: { quote: 'q' },
      prompt: { messages: ['Judge.'] },
      llm,
    });
    expect(await history()).toEqual([]);
    expect(await codeOf(counter('a'))).toBe('entity_instance_not_found');
  });

  it('tells the decider what is wrong with a proposal, and shows the exchange when none can be used', async () => {
    const { tryOut, createCounter } = await plant();
    await createCounter('b');
    const answer = tryOut();
    const { request, fail } = await decider.called();
    const reasonOf = async (proposal: JsonObject) => (await request.check(proposal))?.reason;
    expect(await reasonOf({ 'counter:a': { count: 'many' } })).toMatch(/^\/counter:a\/count: /);
    expect(await reasonOf({ 'counter:b': { count: 1 } })).toContain('counter:b exists and was not read.');
    expect(await request.check({ 'counter:a': { count: 1 } })).toBeUndefined();
    fail(
      new DeciderFailed(new ServiceError('ai_output_invalid', 'Three times.'), { llm: { response: 'no' } }),
    );
    const error = await refusalOf(answer);
    expect(error).toMatchObject({ code: 'ai_output_invalid', message: 'Three times.' });
    expect(error.facts).toEqual({ llm: { response: 'no' } });
    const unchecked = tryOut();
    (await decider.called()).answer({ 'counter:b': { count: 1 } }, { llm: { response: 'b' } });
    expect((await refusalOf(unchecked)).facts).toMatchObject({
      refusal: 'change_not_allowed',
      llm: { response: 'b' },
    });
  });

  it('tries another version, bound or not, and another model', async () => {
    const { tryOut, params } = await plant();
    const { data } = await tryOut({ eventVersion: '2' });
    expect(data).toMatchObject({
      eventVersion: 2,
      stateChanges: { 'counter:a': { count: 22 } },
      prompt: null,
    });
    await house.call('bindings.remove', { params, query: { event: 'judge' } });
    const answer = tryOut({ eventVersion: 1, aiModelId: 'small' });
    const { request, answer: say } = await decider.called();
    expect(request.model).toEqual(modelNamed('small'));
    say({});
    expect((await answer).data).toMatchObject({ eventVersion: 1, stateChanges: {} });
    const unknown = await refusalOf(tryOut({ eventVersion: 3 }));
    expect(unknown).toMatchObject({ code: 'unknown_event_version' });
    expect(unknown.errors).toMatchObject([{ pointer: '#query/eventVersion' }]);
    const other = await refusalOf(tryOut({ eventVersion: 1, aiModelId: 'huge' }));
    expect(other).toMatchObject({ code: 'unknown_ai_model' });
    expect(other.errors).toMatchObject([{ pointer: '#query/aiModelId' }]);
    for (const query of [{ eventVersion: 2 }, { aiModelId: 'small' }, { dryRun: 'false', eventVersion: 2 }])
      expect(
        await codeOf(house.call('deployments.execute', { params, query, body: { event: 'judge' } })),
      ).toBe('validation_failed');
  });

  it('is refused like an execution', async () => {
    const { tryOut, params } = await plant();
    expect(await codeOf(tryOut({}, 'increment'))).toBe('event_not_bound');
    await house.call('deployments.pause', { params });
    expect(await codeOf(tryOut())).toBe('deployment_paused');
    expect(await codeOf(tryOut({ eventVersion: 2 }))).toBe('deployment_paused');
  });
});

describe('a service without a usable model', () => {
  it('begins no run', async () => {
    running.push(await house.boot({ decider: decider.decider, models: [] }));
    const bindings = [{ event: 'judge', eventVersion: 1 }];
    const { execute, history, params } = await plantDeployment(house, { bindings });
    const calls = decider.calls();
    for (const query of [{}, { dryRun: 'true' }])
      expect(await codeOf(execute({ id: 'a' }, { query }, 'judge'))).toBe('ai_model_unavailable');
    await house.call('deployments.lock', { params });
    expect(await codeOf(execute({ id: 'a' }, {}, 'judge'))).toBe('ai_model_unavailable');
    expect(decider.calls()).toBe(calls);
    expect(await history()).toEqual([]);
  });
});

describe('a try of a version that is not saved', () => {
  const definition = {
    inputSchema: { id: 'string' },
    stateChanges: { counter: 'partial' },
    mutationSettings: {
      mode: 'direct',
      template: { 'counter:{{ input.id }}': { count: { $increment: 5 } } },
    },
  };
  const trying = async () => {
    const planted = await plant();
    await planted.createCounter('a', { count: 2 });
    const tryDraft = (body: object, caller = {}) =>
      house.call(
        'deployments.try',
        { params: planted.params, body: { event: 'new', input: { id: 'a' }, definition, ...body } },
        caller,
      );
    return { ...planted, tryDraft };
  };

  it('decides on the present state and commits nothing, also where nothing is bound', async () => {
    const { tryDraft, counter, history } = await trying();
    expect((await tryDraft({})).data).toMatchObject({
      kind: 'dry_run',
      event: 'new',
      eventVersion: 9,
      stateChanges: { 'counter:a': { count: 7 } },
      llm: null,
    });
    expect((await counter('a')).state).toMatchObject({ count: 2 });
    expect(await history()).toEqual([]);
    expect(await codeOf(tryDraft({ input: { id: 7 } }))).toBe('invalid_input');
    expect(await codeOf(tryDraft({ definition: {} }))).toBe('mutation_missing');
    expect(await codeOf(tryDraft({}, { accountId: 2 }))).toBe('deployment_not_found');
  });

  it('asks the model that is named', async () => {
    const { tryDraft } = await trying();
    const readEntities = [{ schema: 'counter', filter: ['id'] }];
    const judged = { ...definition, readEntities, mutationSettings: null, behaviorPrompt: 'Judge.' };
    const answer = tryDraft({ definition: judged, aiModelId: 'small' });
    const { request, answer: say } = await decider.called();
    expect(request.model).toEqual(modelNamed('small'));
    say({ 'counter:a': { count: 3 } });
    expect((await answer).data.stateChanges).toEqual({ 'counter:a': { count: 3 } });
    const refused = await refusalOf(tryDraft({ aiModelId: 'none' }));
    expect([refused.code, refused.errors[0]?.pointer]).toEqual(['unknown_ai_model', '/aiModelId']);
  });
});
