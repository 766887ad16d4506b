/**
 * A price in the smallest unit of an asset, as decimal digits. A number stands for the decimal text that JSON has for it;
 * no step uses floating point. What is left over is rounded up.
 *
 * @param priceUsd US dollars, 0 or more; one dollar is one unit of the asset
 */
export function smallestUnits(priceUsd: number, decimals: number): string {
  const [digits = '0', exponent = '0'] = String(priceUsd).split('e');
  const [whole = '0', fraction = ''] = digits.split('.');
  const value = BigInt(whole + fraction);
  const scale = decimals + Number(exponent) - fraction.length;
  if (scale >= 0) return String(value * 10n ** BigInt(scale));
  const divisor = 10n ** BigInt(-scale);
  return String((value + divisor - 1n) / divisor);
}
