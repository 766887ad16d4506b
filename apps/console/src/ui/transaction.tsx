import { Copy, CopyableCode, shortened } from './values.js';

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

/** A transaction of a chain; with a link it leads to the block explorer. */
export function Transaction({ transaction, link }: { transaction: string | null; link: string | undefined }) {
  if (transaction === null) return '–';
  if (link === undefined) return <CopyableCode text={transaction} what="transaction" short />;
  return (
    <span className="inline-flex items-center gap-0.5 whitespace-nowrap">
      <a
        href={link}
        target="_blank"
        rel="noopener noreferrer"
        className="link font-mono text-sm"
        title={transaction}
      >
        {shortened(transaction)}
        <span className="sr-only"> (opens the block explorer)</span>
      </a>
      <Copy text={transaction} what="transaction" />
    </span>
  );
}
