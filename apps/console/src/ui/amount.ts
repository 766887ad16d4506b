/**
 * An amount in the smallest unit of its asset, in whole units: `50000` with 6 decimals is `0.05`. Exact, whatever its
 * size; groups of three digits are parted by a narrow space.
 */
export function formatAmount(amount: string, decimals: number): string {
  const digits = amount.padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals).replace(/\B(?=(\d{3})+$)/g, '\u202f');
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction.padEnd(2, '0')}`;
}

/** US dollars with two digits, or as many as a small amount needs to be seen: `$12.50`, `$0.00042`. */
export function formatUsd(usd: number): string {
  if (usd === 0) return '$0';
  const digits = Math.abs(usd) >= 0.01 ? 2 : Math.min(12, 1 - Math.floor(Math.log10(Math.abs(usd))));
  return usd.toLocaleString('en', {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
