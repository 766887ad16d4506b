import { toHex } from '../json/hex.js';

/**
 * Merkle trees by RFC 6962, and the verification of their proofs by RFC 9162: the SDK's own, as the rest of the verification.
 * Nodes are 64 lowercase hex digits.
 */
export type Node = string;

async function sha256(...parts: readonly string[]): Promise<Node> {
  const bytes = new Uint8Array((parts.join('').match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)));
  return toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}

/** The node of an entry. @param hash the entry's, in hex */
export const leafOf = (hash: string): Promise<Node> => sha256('00', hash);
const parentOf = (left: Node, right: Node): Promise<Node> => sha256('01', left, right);

/** A tree to which entries are added one by one; it remembers few nodes. */
export interface MerkleTree {
  readonly size: number;
  /** @param hash of the next entry */
  add(hash: string): Promise<void>;
  /** Of a tree that has an entry. */
  root(): Promise<Node>;
}

export function createMerkleTree(): MerkleTree {
  /** The roots of its complete subtrees, the largest first. */
  const edge: { leaves: number; node: Node }[] = [];
  let size = 0;
  return {
    get size() {
      return size;
    },
    add: async (hash) => {
      let added = { leaves: 1, node: await leafOf(hash) };
      while (edge.at(-1)?.leaves === added.leaves) {
        const left = edge.pop();
        added = { leaves: added.leaves * 2, node: await parentOf(left?.node ?? '', added.node) };
      }
      edge.push(added);
      size += 1;
    },
    root: async () => {
      let [root = '', ...rest] = edge.map(({ node }) => node).reverse();
      for (const left of rest) root = await parentOf(left, root);
      return root;
    },
  };
}

const isOdd = (number: number): boolean => number % 2 === 1;
const half = (number: number): number => Math.floor(number / 2);

/** Whether the tree with this root has the leaf at its place, from 0 (RFC 9162, 2.1.3.2). */
export async function isIncluded(
  { leaf, place, size, root }: { leaf: Node; place: number; size: number; root: Node },
  path: readonly Node[],
): Promise<boolean> {
  if (place >= size) return false;
  let [at, last, node] = [place, size - 1, leaf];
  for (const next of path) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      node = await parentOf(next, node);
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else node = await parentOf(node, next);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && node === root;
}

export interface TreeOf {
  readonly size: number;
  readonly rootHash: Node;
}

/** Whether the later tree begins with the earlier one (RFC 9162, 2.1.4.2). Both have an entry. */
export async function isConsistent(earlier: TreeOf, later: TreeOf, proof: readonly Node[]): Promise<boolean> {
  if (earlier.size > later.size) return false;
  if (earlier.size === later.size) return proof.length === 0 && earlier.rootHash === later.rootHash;
  const isPower = Number.isInteger(Math.log2(earlier.size));
  const [first, ...path] = isPower ? [earlier.rootHash, ...proof] : proof;
  if (first === undefined) return false;
  let [at, last] = [earlier.size - 1, later.size - 1];
  while (isOdd(at)) [at, last] = [half(at), half(last)];
  let [before, after] = [first, first];
  for (const next of path) {
    if (last === 0) return false;
    if (isOdd(at) || at === last) {
      [before, after] = [await parentOf(next, before), await parentOf(next, after)];
      while (!isOdd(at) && at !== 0) [at, last] = [half(at), half(last)];
    } else after = await parentOf(after, next);
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && before === earlier.rootHash && after === later.rootHash;
}
