import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createMerkleTree, isConsistent, isIncluded, leafOf } from './merkle-tree.js';

const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();

/** MTH, PATH and SUBPROOF of RFC 6962, 2.1, as they are written there. */
const split = (count: number): number => (count <= 2 ? 1 : 2 * split(Math.ceil(count / 2)));
function mth(data: readonly Buffer[]): Buffer {
  const [only] = data;
  if (data.length === 1 && only !== undefined) return sha256(Buffer.of(0), only);
  const k = split(data.length);
  return sha256(Buffer.of(1), mth(data.slice(0, k)), mth(data.slice(k)));
}
function path(m: number, data: readonly Buffer[]): Buffer[] {
  if (data.length === 1) return [];
  const k = split(data.length);
  return m < k
    ? [...path(m, data.slice(0, k)), mth(data.slice(k))]
    : [...path(m - k, data.slice(k)), mth(data.slice(0, k))];
}
function subproof(m: number, data: readonly Buffer[], isWhole: boolean): Buffer[] {
  if (m === data.length) return isWhole ? [] : [mth(data)];
  const k = split(data.length);
  return m <= k
    ? [...subproof(m, data.slice(0, k), isWhole), mth(data.slice(k))]
    : [...subproof(m - k, data.slice(k), false), mth(data.slice(0, k))];
}

const hex = (node: Buffer): string => node.toString('hex');
const data = Array.from({ length: 130 }, (_, at) => sha256(Buffer.from(`entry ${at}`)));
const treeOf = (size: number) => ({ size, rootHash: hex(mth(data.slice(0, size))) });
const sizes = fc
  .tuple(fc.integer({ min: 1, max: 130 }), fc.integer({ min: 1, max: 130 }))
  .map((pair) => pair.sort((a, b) => a - b));

it('makes the root over the entries at every size', async () => {
  const tree = createMerkleTree();
  for (const [at, hash] of data.entries()) {
    await tree.add(hex(hash));
    expect([tree.size, await tree.root()]).toEqual([at + 1, treeOf(at + 1).rootHash]);
  }
});

it('accepts the inclusion proof of any entry, and of no other one', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(129), async ([seq = 1, size = 1], other) => {
      const proof = path(seq - 1, data.slice(0, size)).map(hex);
      const { rootHash: root } = treeOf(size);
      const leaf = await leafOf(hex(data[seq - 1] as Buffer));
      const claim = { leaf, place: seq - 1, size, root };
      expect(await isIncluded(claim, proof)).toBe(true);
      if (other !== seq - 1) {
        expect(await isIncluded({ ...claim, place: other }, proof)).toBe(false);
        expect(await isIncluded({ ...claim, leaf: await leafOf(hex(data[other] as Buffer)) }, proof)).toBe(
          false,
        );
      }
      expect(await isIncluded(claim, [...proof, root])).toBe(false);
      if (proof.length > 0) expect(await isIncluded(claim, proof.slice(1))).toBe(false);
    }),
    { numRuns: 60 },
  );
});

it('accepts the consistency proof between any two sizes, and between no others', async () => {
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(7), async ([from = 1, to = 1], at) => {
      const proof = subproof(from, data.slice(0, to), true).map(hex);
      expect(await isConsistent(treeOf(from), treeOf(to), proof)).toBe(true);
      const changed = { ...treeOf(from), rootHash: hex(sha256(Buffer.from('another past'))) };
      expect(await isConsistent(changed, treeOf(to), proof)).toBe(false);
      expect(await isConsistent(treeOf(from), { ...treeOf(to), rootHash: changed.rootHash }, proof)).toBe(
        false,
      );
      expect(await isConsistent(treeOf(from), treeOf(to), [...proof, changed.rootHash])).toBe(false);
      if (from < to) {
        expect(await isConsistent(treeOf(from), treeOf(to), [])).toBe(false);
        expect(await isConsistent(treeOf(to), treeOf(from), proof)).toBe(false);
        const wrong = proof.with(at % proof.length, changed.rootHash);
        expect(await isConsistent(treeOf(from), treeOf(to), wrong)).toBe(false);
      }
    }),
    { numRuns: 60 },
  );
});
