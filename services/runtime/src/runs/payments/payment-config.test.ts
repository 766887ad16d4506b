import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readRuntimeConfig } from '../../config.js';
import { TEST_NETWORKS } from './payment-config.js';

function fileWith(content: unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'payments-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'payments.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const usdc = {
  network: 'base',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  decimals: 6,
  name: 'USD Coin',
  version: '2',
  rpcUrls: ['https://mainnet.base.org'],
};
const facilitatorUrl = 'https://facilitator.example';
const read = (content: unknown) => readRuntimeConfig({ PAYMENTS_FILE: fileWith(content) }).payments;

describe('PAYMENTS_FILE', () => {
  it('is the test networks by default', () => {
    const { payments } = readRuntimeConfig({});
    expect(payments).toBe(TEST_NETWORKS);
    expect(payments.accepts.map(({ caip2 }) => caip2)).toEqual([
      'eip155:84532',
      'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    ]);
  });

  it('names networks as version 1 of x402 does', () => {
    expect(read({ facilitatorUrl, accepts: [usdc] })).toEqual({
      facilitatorUrl,
      accepts: [{ ...usdc, caip2: 'eip155:8453', family: 'evm' }],
      settleMs: 20_000,
    });
  });

  it('that does not exist is named with its path', () => {
    expect(() => readRuntimeConfig({ PAYMENTS_FILE: '/nowhere/payments.json' })).toThrow(
      /PAYMENTS_FILE \(there is no file \/nowhere\/payments\.json; `npm run local-payments` writes/,
    );
  });

  it.each([
    ['not JSON', '{', [/not a file with JSON/]],
    ['no assets', { facilitatorUrl, accepts: [] }, [/at \/accepts:/]],
    [
      'several problems at once',
      {
        facilitatorUrl: 'ftp://x',
        accepts: [
          { ...usdc, network: 'nowhere', rpcUrls: ['x'] },
          { ...usdc, asset: '0x12' },
          { ...usdc, network: 'solana', asset: '0x12', decimals: 1.5 },
          { ...usdc, colour: 'red' },
        ],
      },
      [
        /\/facilitatorUrl: an address/,
        /\/accepts\/0\/rpcUrls\/0: an address/,
        /\/accepts\/2\/decimals/,
        /\/accepts\/3/,
      ],
    ],
    [
      'an unknown network, and addresses of another family',
      {
        facilitatorUrl,
        accepts: [
          { ...usdc, network: 'nowhere' },
          { ...usdc, asset: '0x12' },
        ],
      },
      [/"nowhere" is no network of x402/, /\/accepts\/1\/asset: "0x" and 40/],
    ],
    [
      'an asset twice',
      { facilitatorUrl, accepts: [usdc, usdc] },
      [/\/accepts\/1: this asset is listed twice/],
    ],
  ])('is refused at the start: %s', (_what, content, problems) => {
    for (const problem of problems) expect(() => read(content)).toThrow(problem);
  });
});
