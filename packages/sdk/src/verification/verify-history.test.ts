import { expect, it, onTestFinished } from 'vitest';
import { answering, refusing, type Step, startScriptedServer } from '../../tests/scripted-server.js';
import { createOrrery } from '../orrery.js';
import { firstLink, hashedText, sha256 } from './hash-chain.js';

const ADDRESS = '0xabc';
type Entry = Parameters<typeof hashedText>[0];
const hashOf = (entry: Entry) => sha256(hashedText(entry) ?? '');

async function hashed(members: object): Promise<Entry> {
  const entry = { v: 2, deployment: ADDRESS, changes: [], ...members } as unknown as Entry;
  return { ...entry, hash: await hashOf(entry) };
}

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
    entries.push(await hashed({ seq: at + 1, changes: [change], prevHash }));
  }
  return entries;
}

const instance = (instanceId: string, n: number) => ({
  entitySchema: 'horse',
  instanceId,
  state: { n },
  revision: 1,
});

/** The pages of the list of instances, each with the entries that come before it is read. */
type Pages = readonly { readonly listed: object[]; readonly meanwhile?: Entry[] }[];

/** Answers as the service does: pages by cursor alone, since those by number end at 100,000 instances. */
function serviceOf(entries: Entry[], pages: Pages): Step {
  const journal = [...entries];
  return (reply, request) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const after = Number(searchParams.get('after') ?? Number.POSITIVE_INFINITY);
    if (pathname.endsWith('/entity-instances')) {
      const at = Number(searchParams.get('cursor') ?? 0);
      const { listed = [], meanwhile = [] } = pages[at] ?? {};
      journal.push(...meanwhile);
      const isAsked = searchParams.get('orderBy') === 'id' && !searchParams.has('page');
      const pagination = { limit: 100, next: at + 1 < pages.length ? String(at + 1) : null };
      return (isAsked ? answering(listed, 200, { pagination }) : refusing(400, 'page_too_deep'))(
        reply,
        request,
      );
    }
    const known = pathname.endsWith('/history')
      ? journal
          .filter(({ seq }) => seq < after)
          .reverse()
          .slice(0, Number(searchParams.get('limit')))
      : { address: ADDRESS, worldAddress: '0xdef', source: null };
    answering(known)(reply, request);
  };
}

async function clientOf(entries: Entry[], pages: Pages = []) {
  const server = await startScriptedServer(serviceOf(entries, pages));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return createOrrery({ url: server.url, token: 'secret' });
}

async function verify(...served: Parameters<typeof clientOf>) {
  return (await clientOf(...served)).deployment('0xdef', ADDRESS).verifyHistory();
}

/** As a reader without a key. */
async function verifyPublished(...served: Parameters<typeof clientOf>) {
  return (await clientOf(...served)).published(ADDRESS).verifyHistory();
}

it('reads the instances by cursors, and takes each as it was at any time since the first was read', async () => {
  const all = await journalOf('A', 'B', 'C', 'D');
  const [before, meanwhile] = [all.slice(0, 2), all.slice(2)];
  const pages = [{ listed: [instance('A', 0)] }, { meanwhile, listed: [instance('B', 1), instance('D', 3)] }];
  const holds = { valid: true, entries: 4, instances: 3, hash: all[3]?.hash };
  expect(await verify(before, pages)).toMatchObject(holds);
  const differs = { deployment: ADDRESS, seq: 4, what: 'instance_differs' };
  const wrong = [pages[0], { meanwhile, listed: [instance('B', 1), instance('D', 4)] }] as Pages;
  expect((await verify(before, wrong)).firstDivergence).toEqual({ ...differs, instance: 'horse:D' });
  const lacks = [pages[0], { meanwhile, listed: [instance('C', 2)] }] as Pages;
  expect((await verify(before, lacks)).firstDivergence).toEqual({ ...differs, instance: 'horse:B' });
  const added = [{ listed: [instance('A', 0), instance('B', 1), instance('X', 0)] }];
  expect((await verify(before, added)).firstDivergence).toEqual({
    ...differs,
    seq: 2,
    instance: 'horse:X',
  });
});

it('reads names that are written with escapes as they are, whatever was parsed before', async () => {
  // From now on JSON.parse reads a second key that is written with an escape as this one.
  JSON.parse('{"paddock":1,"\\\\":2}');
  const set = { paddock: 1, '\u2028': 2 };
  const [first] = await journalOf('A');
  const entry = { ...first, changes: [{ ...first?.changes[0], set }] } as Entry;
  const entries = [{ ...entry, hash: await hashOf(entry) }];
  const shown = { entitySchema: 'horse', instanceId: 'A', state: set, revision: 1 };
  expect(await verify(entries, [{ listed: [shown] }])).toMatchObject({ valid: true, instances: 1 });
});

it('finds changes that cannot follow, whatever the hashes say', async () => {
  const { valid, entries, firstDivergence } = await verify(await journalOf('A', 'B', 'A'));
  expect([valid, entries]).toEqual([false, 2]);
  expect(firstDivergence).toMatchObject({ seq: 3, what: 'impossible_change', instance: 'horse:A' });
});

/** As who has no key is shown an entry about settings. */
const withoutInput = ({ input: _, ...shown }: Entry) => shown as unknown as Entry;

it('follows an entry by its link whose input only the owner reads, and no entry that changes anything', async () => {
  const prevHash = await firstLink(ADDRESS, null);
  const whole = await hashed({ seq: 1, kind: 'settings_updated', input: { name: 'x' }, prevHash });
  const shown = withoutInput(whole);
  const holds = { valid: true, entries: 1, linked: 1, hash: whole.hash };
  expect(await verifyPublished([shown])).toMatchObject(holds);
  const forged = { valid: false, linked: 0, firstDivergence: { seq: 1, what: 'wrong_hash' } };
  expect(await verifyPublished([{ ...shown, kind: 'execution' }])).toMatchObject(forged);
  const [created] = await journalOf('A');
  const changing = { ...created, kind: 'settings_updated', event: 'forged' } as Entry;
  expect(await verifyPublished([changing])).toMatchObject(forged);
});

it('checks with a key the hash of every entry: no past can be written anew under the hash of its settings', async () => {
  const prevHash = await firstLink(ADDRESS, null);
  const first = { seq: 1, kind: 'execution', input: {}, prevHash };
  const [told, rewritten] = [
    await hashed({ ...first, result: 'A' }),
    await hashed({ ...first, result: 'B' }),
  ];
  const settings = await hashed({ seq: 2, kind: 'published', input: {}, prevHash: told.hash });
  const linked = withoutInput({ ...settings, prevHash: rewritten.hash });
  const found = { valid: false, linked: 0, firstDivergence: { seq: 2, what: 'wrong_hash' } };
  expect(await verify([rewritten, linked])).toMatchObject(found);
  // Without a key nobody can tell, as `linked` says: a checkpoint that was kept does.
  const same = { valid: true, linked: 1, hash: settings.hash };
  expect(await verifyPublished([rewritten, linked])).toMatchObject(same);
});

it.each([
  ['of a version that the recipe has not', 3, 'a'],
  ['of version 1 with members of version 2', 1, 'a'],
  ['with half of a surrogate pair', 2, '\ud800'],
])('refuses an entry %s, whatever its hash', async (_, v, name) => {
  const prevHash = await firstLink(ADDRESS, null);
  const entry = { ...{ deployment: ADDRESS, seq: 1, changes: [], prevHash }, evaluator: 2 };
  const known = hashedText({ ...entry, v: 2, input: '?' } as never) ?? '';
  const text = known.replace('"v":2', `"v":${v}`).replace('"?"', JSON.stringify(name));
  const forged = { ...entry, v, input: name, hash: await sha256(text) } as never;
  expect(await verify([forged])).toMatchObject({ firstDivergence: { seq: 1, what: 'wrong_hash' } });
});
