import { describe, expect, it } from 'vitest';
import { entities, raceDefinition } from './race.test-support.js';
import { type ModelMessage, readAnswer, withoutFence } from './read-answer.js';
import { strictFormOf } from './strict-form.js';

const definition = raceDefinition();
const message = (more: Partial<ModelMessage>): ModelMessage => ({
  content: null,
  finishReason: 'stop',
  refusal: null,
  hasToolCalls: false,
  ...more,
});
const read = (content: unknown, more: Partial<ModelMessage> = {}, asStrict = false) =>
  readAnswer(message({ content: typeof content === 'string' ? content : JSON.stringify(content), ...more }), {
    definition,
    entities,
    strictForm: asStrict ? strictFormOf(definition) : null,
  });
const won = { stateChanges: { 'horse:HORSE_1': { wins: 4 } }, result: { winner: 'HORSE_1' } };

describe('a proposal', () => {
  it('may have the plain form or be the bare map, whatever form was asked for', () => {
    for (const asStrict of [false, true]) {
      expect(read(won, {}, asStrict)).toEqual({ ok: true, mutation: won });
      expect(read(won.stateChanges, {}, asStrict)).toEqual({ ok: true, mutation: won.stateChanges });
      expect(read({}, {}, asStrict)).toMatchObject({ ok: true });
    }
  });

  it('may have the strict form where that was asked for', () => {
    const strict = {
      stateChanges: { horse: [{ instanceId: 'HORSE_1', state: { wins: 4, name: null }, unset: [] }] },
      result: { winner: 'HORSE_1', time: null },
    };
    expect(read(strict, {}, true)).toEqual({ ok: true, mutation: won });
    expect(read(strict)).toMatchObject({ ok: false, fault: 'wrong_form' });
  });

  it('may stand in one Markdown fence', () => {
    for (const fence of ['```json\n$\n```', '```\n$\n```\n', '  ```JSON \n$```'])
      expect(read(fence.replace('$', JSON.stringify(won)))).toEqual({ ok: true, mutation: won });
  });

  it('may delete with {"$delete": true}; whether it is allowed is checked later', () => {
    expect(read({ 'horse:HORSE_1': { $delete: true } })).toMatchObject({ ok: true });
  });

  it('may repeat a value of the state that looks like an operator', () => {
    const state = { gear: { $increment: 1 } };
    const answer = message({ content: JSON.stringify({ 'horse:HORSE_1': state }) });
    const context = { definition, strictForm: null };
    expect(readAnswer(answer, { ...context, entities: { horse: { HORSE_1: state } } })).toMatchObject({
      ok: true,
    });
    expect(readAnswer(answer, { ...context, entities })).toMatchObject({ ok: false });
  });
});

describe('a change that repeats what is there', () => {
  it('may hold an attribute that the schema no longer has, unchanged', () => {
    const context = {
      definition,
      strictForm: null,
      entities: { horse: { HORSE_1: { wins: 3, legacy: 'old' } } },
    };
    const answer = (legacy: string) =>
      readAnswer(message({ content: JSON.stringify({ 'horse:HORSE_1': { wins: 4, legacy } }) }), context);
    expect(answer('old')).toMatchObject({ ok: true });
    expect(answer('new')).toMatchObject({ fault: 'not_allowed' });
  });
});

describe('an answer that holds no proposal', () => {
  const wins = (value: string) => `{"horse:HORSE_1":{"wins":${value}}}`;
  const changing = (count: number) =>
    `{"stateChanges":{${Array.from({ length: count }, (_, at) => `"horse:H${at}":{"wins":4}`)}}}`;
  it.each<[string, Partial<ModelMessage>, string]>([
    ['cut off', { content: wins('5'), finishReason: 'length' }, 'cut_off'],
    ['a refusal', { refusal: 'No.' }, 'refused'],
    ['filtered', { content: wins('5'), finishReason: 'content_filter' }, 'refused'],
    ['a tool call', { hasToolCalls: true }, 'tool_call'],
    ['nothing', {}, 'empty'],
    ['spaces', { content: ' \n ' }, 'empty'],
    ['too large', { content: `"${'x'.repeat(512 * 1024)}"` }, 'too_large'],
    ['cut JSON', { content: '{"horse:HORSE_1": {"wins": 5' }, 'not_json'],
    ['prose before', { content: `The outcome: ${wins('4')}` }, 'not_json'],
    ['prose after', { content: `${wins('4')} Enjoy!` }, 'not_json'],
    ['two objects', { content: `${wins('4')}${wins('5')}` }, 'not_json'],
    ['two fences', { content: `\`\`\`\n${wins('4')}\n\`\`\`\n\`\`\`\n{}\n\`\`\`` }, 'not_json'],
    ['thoughts before', { content: `<think>Hm.</think>${wins('4')}` }, 'not_json'],
    ['a comment', { content: `{"horse:HORSE_1":{"wins":4}/* ! */}` }, 'not_json'],
    ['a list', { content: '[]' }, 'wrong_form'],
    ['a number', { content: '4' }, 'wrong_form'],
    ['null', { content: 'null' }, 'wrong_form'],
    ['changes are a list', { content: '{"stateChanges":[]}' }, 'wrong_form'],
    ['no colon', { content: '{"HORSE_1":{"wins":4}}' }, 'wrong_form'],
    ['a change is no object', { content: '{"horse:HORSE_1":4}' }, 'wrong_form'],
    ['a reserved instanceId', { content: '{"horse:__proto__":{"wins":4}}' }, 'wrong_form'],
    ['a result that is a text', { content: '{"result":"HORSE_1"}' }, 'wrong_form'],
    ['a key twice', { content: '{"horse:HORSE_1":{"wins":4,"wins":5}}' }, 'repeated_key'],
    ['U+0000', { content: '{"horse:HORSE_1":{"name":"a\\u0000"}}' }, 'unsafe_json'],
    ['a lone surrogate', { content: '{"horse:HORSE_1":{"name":"\\ud83d"}}' }, 'unsafe_json'],
    ['__proto__', { content: '{"horse:HORSE_1":{"__proto__":{"wins":4}}}' }, 'unsafe_json'],
    ['1e400', { content: wins('1e400') }, 'unsafe_json'],
    ['depth 100,000', { content: wins(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) }, 'unsafe_json'],
    ['50,001 values', { content: wins(`[${'0,'.repeat(50_000)}0]`) }, 'unsafe_json'],
    ['the start of 50,001 values', { content: wins(`[${'[],'.repeat(25_000)}`) }, 'unsafe_json'],
    ['501 changes', { content: changing(501) }, 'not_allowed'],
    ['501 changes without a colon', { content: changing(501).replaceAll(':H', '') }, 'not_allowed'],
    ['501 changes in a map', { content: changing(501).slice(16, -1) }, 'not_allowed'],
    ['an unknown attribute', { content: '{"horse:HORSE_1":{"winz":4}}' }, 'not_allowed'],
    ['an operator', { content: wins('{"$increment":1}') }, 'not_allowed'],
    ['an unknown operator', { content: wins('{"$add":1}') }, 'not_allowed'],
    ['an operator on the instance', { content: '{"horse:HORSE_1":{"$set":{"wins":4}}}' }, 'not_allowed'],
    ['$delete beside values', { content: '{"horse:HORSE_1":{"$delete":true,"wins":4}}' }, 'not_allowed'],
  ])('%s', (_what, more, fault) => {
    expect(
      readAnswer(message(more), { definition, entities, strictForm: strictFormOf(definition) }),
    ).toMatchObject({
      ok: false,
      fault,
      reason: expect.stringMatching(/./),
    });
  });

  it('says in its reason where the fault is', () => {
    expect(read({ 'horse:HORSE_1': { winz: 4 } })).toMatchObject({
      reason: 'horse:HORSE_1: the schema has no attribute "winz".',
    });
    expect(read({ stateChanges: { horse: [{ instanceId: 'H' }] } }, {}, true)).toMatchObject({
      reason: '/stateChanges/horse/0/state: it must be an object.',
    });
  });
});

it.each([
  ['```json\n{}\n```', '{}\n'],
  ['```\n```', ''],
  ['```json {} ```', '```json {} ```'],
  ['```js x\n{}\n```', '```js x\n{}\n```'],
  ['``` ```', '``` ```'],
  ['```', '```'],
])('removes one fence around all of %j', (content, text) => {
  expect(withoutFence(content)).toBe(text);
});
