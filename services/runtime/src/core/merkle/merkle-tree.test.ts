import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mth, path as pathOf, proof as proofOf } from './merkle-reference.test-support.js';
import {
  addBlock,
  BLOCK_LEAVES,
  BLOCK_LEVEL,
  consistencyPath,
  inclusionPath,
  type Leaves,
  leafOf,
  levelsOver,
  type Node,
  rootOver,
  type StoredNode,
  subtreesOf,
} from './merkle-tree.js';

const rootOf = (data: readonly Buffer[], start = 0, end = data.length): Node => {
  const nodes = subtreesOf({ start, end }).map(({ level, place }) => {
    const leaves = data.slice(place * 2 ** level, (place + 1) * 2 ** level).map(leafOf);
    return levelsOver(leaves).at(-1)?.[0] as Node;
  });
  return rootOver(nodes);
};

/** The leaves and roots of the test data of Certificate Transparency. */
const DATA = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const ROOTS = [
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const data = DATA.map((hex) => Buffer.from(hex, 'hex'));

it('makes the roots of the test data of Certificate Transparency', () => {
  expect(ROOTS.map((_, at) => rootOf(data.slice(0, at + 1)).toString('hex'))).toEqual(ROOTS);
});

const text = ({ start, end }: { start: number; end: number }) => `${start}-${end}`;

/** The tree of seven leaves in RFC 6962, 2.1.3. */
describe('the examples of RFC 6962', () => {
  it.each([
    [0, ['1-2', '2-4', '4-7']],
    [3, ['2-3', '0-2', '4-7']],
    [4, ['5-6', '6-7', '0-4']],
    [6, ['4-6', '0-4']],
  ])('the inclusion proof of leaf %i', (leaf, path) => {
    expect(inclusionPath(leaf, { start: 0, end: 7 }).map(text)).toEqual(path);
  });

  it.each([
    [3, ['2-3', '3-4', '0-2', '4-7']],
    [4, ['4-7']],
    [6, ['4-6', '6-7', '0-4']],
    [7, []],
  ])('the consistency proof from %i leaves', (from, path) => {
    expect(consistencyPath(from, 7).map(text)).toEqual(path);
  });
});

const many = Array.from({ length: 1500 }, (_, at) => Buffer.from(`entry ${at}`));

it('makes the root over any leaves of a tree', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), (size) => {
      expect(rootOf(many, 0, size)).toEqual(mth(many.slice(0, size)));
    }),
    { numRuns: 60 },
  );
});

it('makes the proofs of RFC 6962 for any entry and any two sizes', () => {
  const sizes = fc.tuple(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 400 }));
  fc.assert(
    fc.property(sizes, (pair) => {
      const [from = 1, to = 1] = pair.sort((a, b) => a - b);
      const data = many.slice(0, to);
      const nodes = (ranges: readonly Leaves[]) => ranges.map(({ start, end }) => rootOf(data, start, end));
      expect(nodes(inclusionPath(from - 1, { start: 0, end: to }))).toEqual(pathOf(from - 1, data));
      expect(nodes(consistencyPath(from, to))).toEqual(proofOf(from, data));
    }),
    { numRuns: 60 },
  );
});

/** Roots of complete subtrees as they are stored, and the rest computed. */
it('stores what any root over blocks is made of', () => {
  const edge: StoredNode[] = [];
  const stored = new Map<string, Node>();
  const blocks = Math.floor(many.length / BLOCK_LEAVES);
  for (let block = 0; block < blocks; block += 1) {
    const added = many.slice(block * BLOCK_LEAVES, (block + 1) * BLOCK_LEAVES).map(leafOf);
    for (const { level, place, node } of addBlock(edge, block, added)) stored.set(`${level}:${place}`, node);
    const size = (block + 1) * BLOCK_LEAVES;
    const parts = subtreesOf({ start: 0, end: size });
    expect(edge.map(({ level, place }) => ({ level, place }))).toEqual(parts);
    expect(rootOver(edge.map(({ node }) => node))).toEqual(mth(many.slice(0, size)));
  }
  expect(stored.size).toBe(5 + 2 + 1);
  for (const [key, node] of stored) {
    const [level = 0, place = 0] = key.split(':').map(Number);
    expect(level).toBeGreaterThanOrEqual(BLOCK_LEVEL);
    expect(node).toEqual(mth(many.slice(place * 2 ** level, (place + 1) * 2 ** level)));
  }
});

it('needs few nodes of a tree with billions of leaves', () => {
  const size = 5_000_000_123;
  expect(inclusionPath(4_999_999_999, { start: 0, end: size }).length).toBeLessThanOrEqual(33);
  expect(consistencyPath(3_000_000_001, size).length).toBeLessThanOrEqual(34);
  expect(subtreesOf({ start: 0, end: size }).length).toBeLessThanOrEqual(33);
});
