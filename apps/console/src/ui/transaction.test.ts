import { expect, it } from 'vitest';
import { explorerLink, safeLink } from './values.js';

const HASH = `0x${'ab'.repeat(32)}`;
const SIGNATURE = '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW';

it('leads to the explorer of the network', () => {
  expect(explorerLink('base-sepolia', HASH)).toBe(`https://sepolia.basescan.org/tx/${HASH}`);
  expect(explorerLink('solana-devnet', SIGNATURE)).toBe(
    `https://explorer.solana.com/tx/${SIGNATURE}?cluster=devnet`,
  );
});

it('leads nowhere for another network, and for what is no transaction', () => {
  expect(explorerLink('anvil', HASH)).toBeUndefined();
  expect(explorerLink('constructor', HASH)).toBeUndefined();
  expect(explorerLink('base', '../../evil')).toBeUndefined();
});

it('follows links to pages alone', () => {
  expect(safeLink('https://scan.example/tx/1')).toBe('https://scan.example/tx/1');
  expect(safeLink('javascript:alert(1)')).toBeUndefined();
  expect(safeLink('tx/1')).toBeUndefined();
  expect(safeLink(null)).toBeUndefined();
});
