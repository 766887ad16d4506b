import { createHash } from 'node:crypto';

const sha256 = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();

/** MTH, PATH, PROOF and SUBPROOF of RFC 6962, 2.1, as they are written there: nothing is stored, all is recomputed. */
const split = (count: number): number => {
  let k = 1;
  while (k * 2 < count) k *= 2;
  return k;
};

export function mth(data: readonly Buffer[]): Buffer {
  const [only] = data;
  if (data.length === 1 && only !== undefined) return sha256(Buffer.of(0), only);
  const k = split(data.length);
  return sha256(Buffer.of(1), mth(data.slice(0, k)), mth(data.slice(k)));
}

export function path(m: number, data: readonly Buffer[]): Buffer[] {
  if (data.length === 1) return [];
  const k = split(data.length);
  return m < k
    ? [...path(m, data.slice(0, k)), mth(data.slice(k))]
    : [...path(m - k, data.slice(k)), mth(data.slice(0, k))];
}

export const proof = (m: number, data: readonly Buffer[]): Buffer[] => subproof(m, data, true);

function subproof(m: number, data: readonly Buffer[], isWhole: boolean): Buffer[] {
  if (m === data.length) return isWhole ? [] : [mth(data)];
  const k = split(data.length);
  return m <= k
    ? [...subproof(m, data.slice(0, k), isWhole), mth(data.slice(k))]
    : [...subproof(m - k, data.slice(k), false), mth(data.slice(0, k))];
}
