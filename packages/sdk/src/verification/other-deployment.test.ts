import { describe, expect, it } from 'vitest';
import { noteOf, signer } from '../../tests/signed-notes.js';
import type { Requests } from '../requests/requests.js';
import type { CheckpointError } from './checkpoint.js';
import { isCovered, nextCheckpoint } from './follow-checkpoints.js';
import { firstLink, hashedText, sha256 } from './hash-chain.js';
import { createMerkleTree } from './merkle-tree.js';
import { verifyHistory } from './verify-history.js';

const A = `0x${'aa'.repeat(20)}`;
const B = `0x${'bb'.repeat(20)}`;
const WORLD = `0x${'cc'.repeat(20)}`;
const operator = signer('orrery.example');
const keys = [operator.verifier];
type Source = Parameters<typeof firstLink>[1];
type Entry = Parameters<typeof hashedText>[0];

/** A deployment with one entry, and the checkpoint that the operator signs of it. */
async function journalOf(address: string, source: Source = null) {
  const prevHash = await firstLink(address, source);
  const entry = { v: 2, deployment: address, seq: 1, changes: [], input: {}, prevHash } as unknown as Entry;
  const hash = await sha256(hashedText(entry) ?? '');
  const tree = createMerkleTree();
  await tree.add(hash);
  const root = Buffer.from(await tree.root(), 'hex').toString('base64');
  const note = noteOf(`orrery.example/${address}/1\n1\n${root}\n`, operator);
  return { record: { address, worldAddress: WORLD, source }, entries: [{ ...entry, hash }], note };
}
type Made = Awaited<ReturnType<typeof journalOf>>;

/** A server that answers with these where the deployments of the names are asked for. */
const answering = (by: Readonly<Record<string, Partial<Made>>>) => {
  const answer = async (
    _method: string,
    path: string,
    init: { path: { address: string }; query?: object },
  ) => {
    const { record, entries = [], note } = by[init.path.address] ?? {};
    const { after = 2 } = (init.query ?? {}) as { after?: number };
    const last = path.split('/').at(-1);
    const data = {
      head: { checkpoint: note },
      history: entries.filter(({ seq }) => seq < after),
      'entity-instances': [],
      proof: { path: [] },
    }[last ?? ''];
    const pagination = { page: 1, limit: 100, total: 0, totalPages: 0 };
    return { body: { data: data ?? record, pagination } };
  };
  return { answer } as unknown as Requests;
};

const faultOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: CheckpointError) => error.fault,
  );
const verify = (by: Readonly<Record<string, Partial<Made>>>, address: string, options = {}) =>
  verifyHistory(answering(by), { worldAddress: WORLD, address }, options);

describe('what the operator has signed of another deployment', () => {
  it('is no history of the one that was asked for', async () => {
    const [own, other] = [await journalOf(A), await journalOf(B)];
    expect(await verify({ [A]: own }, A, { keys })).toMatchObject({ valid: true, entries: 1 });
    expect(await faultOf(verify({ [A]: other }, A, { keys }))).toBe('other_journal');
    expect(await faultOf(verify({ [A]: other }, A))).toBe('other_journal');
    expect(await faultOf(verify({ [A]: { ...own, note: other.note } }, A, { keys }))).toBe('other_journal');
  });

  it('is no source of a clone', async () => {
    const other = await journalOf(B);
    const clone = await journalOf(A, { address: `0x${'dd'.repeat(20)}`, seq: 1, snapshotHash: '' });
    const by = { [A]: clone, [clone.record.source?.address ?? '']: other };
    expect(await faultOf(verify(by, A))).toBe('other_journal');
  });

  it('is no checkpoint of the one that was asked for, and covers no entry of it', async () => {
    const [own, other] = [await journalOf(A), await journalOf(B)];
    const next = (made: Made) => nextCheckpoint(answering({ [A]: made }), { address: A }, { keys });
    expect(await next(own)).toMatchObject({ size: 1 });
    await expect(next(other)).rejects.toMatchObject({ fault: 'other_journal', note: other.note });
    const covers = ({ note, entries }: Made) => {
      const { hash = '' } = entries[0] ?? {};
      return isCovered(answering({ [A]: other }), { address: A }, { seq: 1, hash, note, keys });
    };
    expect(await covers(own)).toBe(true);
    expect(await faultOf(covers(other))).toBe('other_journal');
  });

  it('is told by the address alone: in any case, and by the first answer where an id is asked for', async () => {
    const [own, other] = [await journalOf(A), await journalOf(B)];
    const inCapitals = A.toUpperCase().replace('X', 'x');
    expect(await verify({ [A]: own, [inCapitals]: own }, inCapitals, { keys })).toMatchObject({
      valid: true,
    });
    expect(await verify({ [A]: own, 7: own }, '7', { keys })).toMatchObject({ valid: true });
    const later = { [A]: { ...own, note: other.note }, 7: { ...own, note: other.note } };
    expect(await faultOf(verify(later, '7', { keys }))).toBe('other_journal');
  });
});
