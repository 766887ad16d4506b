import { expect, it } from 'vitest';
import { createConfirm } from './catalog-client.js';

/** Answers each item with itself, and records the calls. */
function echoing() {
  const calls: unknown[] = [];
  const echo = <T>(items: T[]) => items.map((item) => ({ state: 'changed', definition: item }));
  const confirm = createConfirm(async ({ versions, schemas, worlds }) => {
    calls.push({ versions, schemas, worlds });
    return { versions: echo(versions), schemas: echo(schemas), worlds: echo(worlds) } as never;
  });
  return { confirm, calls };
}

it('sends equal questions once and gives each question its own answer', async () => {
  const { confirm, calls } = echoing();
  const versions = [
    { versionId: 1, hash: 'a' },
    { versionId: 11, hash: '' },
    { versionId: 1, hash: '' },
  ];
  const schemas = [
    { worldId: 1, name: 'b', hash: 'a' },
    { worldId: 1, name: 'a b', hash: '' },
    { worldId: 1, name: 'b', hash: '' },
    { worldId: 2, name: 'b', hash: '' },
  ];
  const worlds = [{ worldId: 1, hash: 'a' }];
  const questions = [
    ...[...versions, ...versions].map((item) => ({ item, answer: confirm('versions', item) })),
    ...[...schemas, ...schemas].map((item) => ({ item, answer: confirm('schemas', { ...item }) })),
    ...[...worlds, ...worlds].map((item) => ({ item, answer: confirm('worlds', item) })),
  ];
  for (const { item, answer } of questions)
    expect(await answer).toEqual({ state: 'changed', definition: item });
  expect(calls).toEqual([{ versions, schemas, worlds }]);
});

it('asks again for what had no room in a reply, and answers the others meanwhile', async () => {
  const calls: number[][] = [];
  const confirm = createConfirm(async ({ versions }) => {
    calls.push(versions.map(({ versionId }) => versionId));
    const answers = versions.map((_, index) => ({ state: index === 0 ? 'gone' : 'later' }));
    return { versions: answers, schemas: [], worlds: [] } as never;
  });
  const answered: number[] = [];
  const ask = async (versionId: number) => {
    expect(await confirm('versions', { versionId, hash: '' })).toEqual({ state: 'gone' });
    answered.push(versionId, calls.length);
  };
  await Promise.all([1, 2, 3].map(ask));
  expect(calls).toEqual([[1, 2, 3], [2, 3], [3]]);
  expect(answered).toEqual([1, 1, 2, 2, 3, 3]);
});
