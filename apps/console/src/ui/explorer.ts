/** Block explorers of the networks that payments are commonly made in, by their names in version 1 of x402. */
const EXPLORERS: Readonly<Record<string, (transaction: string) => string>> = {
  base: (transaction) => `https://basescan.org/tx/${transaction}`,
  'base-sepolia': (transaction) => `https://sepolia.basescan.org/tx/${transaction}`,
  solana: (transaction) => `https://explorer.solana.com/tx/${transaction}`,
  'solana-devnet': (transaction) => `https://explorer.solana.com/tx/${transaction}?cluster=devnet`,
};

/** Hash of an EVM transaction, or signature of a Solana one. */
const TRANSACTION = /^(0x[0-9a-f]{64}|[1-9A-HJ-NP-Za-km-z]{64,90})$/i;

/** A transaction in the explorer of its network; undefined where none is known. */
export const explorerLink = (network: string, transaction: string): string | undefined =>
  TRANSACTION.test(transaction) && Object.hasOwn(EXPLORERS, network)
    ? EXPLORERS[network]?.(transaction)
    : undefined;

/** A link that the service gave, if it is one that a page can follow: never a script. */
export function safeLink(url: string | null): string | undefined {
  if (url === null || !URL.canParse(url)) return undefined;
  return /^https?:$/.test(new URL(url).protocol) ? url : undefined;
}
