import { expect, it, onTestFinished } from 'vitest';
import { answering, refusing, type Step, startScriptedServer } from '../../tests/scripted-server.js';
import { createOrrery } from '../orrery.js';
import { firstLink, hashedText, sha256 } from './hash-chain.js';

const ADDRESS = '0xabc';
type Entry = Parameters<typeof hashedText>[0];
const hashOf = (entry: Entry) => sha256(hashedText(entry));

/** A journal that creates these horses, one an entry. */
async function journalOf(...horses: string[]): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const [at, instanceId] of horses.entries()) {
    const prevHash = entries.at(-1)?.hash ?? (await firstLink(ADDRESS, null));
    const change = {
      entitySchema: 'horse',
      instanceId,
      op: 'create',
      set: { n: at },
      unset: [],
      revision: 1,
    };
    const entry = { deployment: ADDRESS, seq: at + 1, changes: [change], prevHash } as unknown as Entry;
    entries.push({ ...entry, hash: await hashOf(entry) });
  }
  return entries;
}

const instance = (instanceId: string, n: number) => ({
  entitySchema: 'horse',
  instanceId,
  state: { n },
  revision: 1,
});

/** Answers as the service does, with the given list of instances and those that are there one by one. */
async function verify(entries: Entry[], listed: object[], alone: Record<string, object>) {
  const answer: Step = (reply, request) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const name = pathname.split('/')[7];
    const after = Number(searchParams.get('after') ?? Number.POSITIVE_INFINITY);
    const page = entries.filter(({ seq }) => seq < after).reverse();
    const known = pathname.endsWith('/history')
      ? page.slice(0, Number(searchParams.get('limit')))
      : pathname.endsWith('/entity-instances')
        ? listed
        : name === undefined
          ? { address: ADDRESS, worldAddress: '0xdef', source: null }
          : alone[name];
    const step = known === undefined ? refusing(404, 'entity_instance_not_found') : answering(known);
    step(reply, request);
  };
  const server = await startScriptedServer(answer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return createOrrery({ url: server.url, token: 'secret' }).deployment('0xdef', ADDRESS).verifyHistory();
}

it('reads an instance alone that the pages lack, since another one may have been deleted between two pages', async () => {
  const entries = await journalOf('A', 'B');
  const alone = { B: instance('B', 1) };
  const holds = { valid: true, entries: 2, instances: 2, hash: entries[1]?.hash };
  expect(await verify(entries, [instance('A', 0)], alone)).toMatchObject(holds);
  const lacks = { deployment: ADDRESS, seq: 2, what: 'instance_differs', instance: 'horse:B' };
  expect((await verify(entries, [instance('A', 0)], {})).firstDivergence).toEqual(lacks);
});

it('reads names that are written with escapes as they are, whatever was parsed before', async () => {
  // From now on JSON.parse reads a second key that is written with an escape as this one.
  JSON.parse('{"paddock":1,"\\\\":2}');
  const set = { paddock: 1, '\u2028': 2 };
  const [first] = await journalOf('A');
  const entry = { ...first, changes: [{ ...first?.changes[0], set }] } as Entry;
  const entries = [{ ...entry, hash: await hashOf(entry) }];
  const shown = { entitySchema: 'horse', instanceId: 'A', state: set, revision: 1 };
  expect(await verify(entries, [shown], {})).toMatchObject({ valid: true, instances: 1 });
});

it('finds changes that cannot follow, whatever the hashes say', async () => {
  const { valid, entries, firstDivergence } = await verify(await journalOf('A', 'B', 'A'), [], {});
  expect([valid, entries]).toEqual([false, 2]);
  expect(firstDivergence).toMatchObject({ seq: 3, what: 'impossible_change', instance: 'horse:A' });
});

it('follows an entry by its link whose input only the owner reads, and no entry that changes anything', async () => {
  const prevHash = await firstLink(ADDRESS, null);
  const whole = {
    deployment: ADDRESS,
    seq: 1,
    kind: 'settings_updated',
    input: { name: 'x' },
    changes: [],
    prevHash,
  };
  const hash = await hashOf(whole as unknown as Entry);
  const { input: _, ...shown } = { ...whole, hash };
  const holds = { valid: true, entries: 1, linked: 1, hash };
  expect(await verify([shown as unknown as Entry], [], {})).toMatchObject(holds);
  const forged = { valid: false, linked: 0, firstDivergence: { seq: 1, what: 'wrong_hash' } };
  const execution = { ...shown, kind: 'execution' } as unknown as Entry;
  expect(await verify([execution], [], {})).toMatchObject(forged);
  const [created] = await journalOf('A');
  const changing = { ...created, kind: 'settings_updated', event: 'forged' } as Entry;
  expect(await verify([changing], [], {})).toMatchObject(forged);
});
