/**
 * The last number from `from` to `to` of which something holds that holds of `from`, and of none after the first of which it
 * does not: `from` itself is not asked about. Asks in proportion to the logarithm of how many there are.
 */
export async function lastThatHolds(
  from: number,
  to: number,
  holds: (number: number) => Promise<boolean>,
): Promise<number> {
  let [low, high] = [from, to];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (await holds(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}
