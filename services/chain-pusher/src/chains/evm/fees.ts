/** What a transaction offers per unit of gas, in wei. */
export interface Bid {
  readonly maxFee: bigint;
  readonly tip: bigint;
}

type Terms = Readonly<Record<string, string>>;

/** Nodes take a replacement that offers 10 % more; 25 % also outbids other wallets' steps. */
const raised = (wei: bigint): bigint => (wei * 125n + 99n) / 100n;
const larger = (one: bigint, other: bigint): bigint => (one > other ? one : other);
const smaller = (one: bigint, other: bigint): bigint => (one < other ? one : other);

/**
 * The present base fee doubled, so that it may rise for some blocks, and the tip; with a transaction to replace, 25 % more
 * than it at least. Undefined when that is not possible below the operator's highest fee.
 */
export function bidFor(present: Terms, replaced: Terms | undefined, cap: bigint): Bid | undefined {
  const baseFee = BigInt(present['baseFee'] ?? 0);
  if (baseFee > cap) return undefined;
  const tip = BigInt(present['tip'] ?? 0);
  const fresh = { maxFee: smaller(cap, 2n * baseFee + tip), tip };
  if (replaced === undefined) return { ...fresh, tip: smaller(tip, fresh.maxFee) };
  const maxFee = larger(fresh.maxFee, raised(BigInt(replaced['maxFee'] ?? 0)));
  if (maxFee > cap) return undefined;
  return { maxFee, tip: smaller(maxFee, larger(tip, raised(BigInt(replaced['tip'] ?? 0)))) };
}
