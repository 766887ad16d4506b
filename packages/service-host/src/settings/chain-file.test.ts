import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readChainFile } from './chain-file.js';

const folder = mkdtempSync(join(tmpdir(), 'orrery-chains-'));
afterAll(() => rmSync(folder, { recursive: true }));

const evm = {
  name: 'base-sepolia',
  caip2: 'eip155:84532',
  family: 'evm',
  rpcUrls: ['https://sepolia.base.org'],
  signerKeyEnv: 'BASE_KEY',
};
const solana = {
  name: 'solana-devnet',
  caip2: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  family: 'solana',
  rpcUrls: ['https://api.devnet.solana.com'],
  signerKeyEnv: 'SOLANA_KEY',
};

function read(contents: unknown) {
  const path = join(folder, `${crypto.randomUUID()}.json`);
  writeFileSync(path, typeof contents === 'string' ? contents : JSON.stringify(contents));
  return readChainFile(path);
}

describe('the file of chains', () => {
  it('is read with its defaults', () => {
    expect(read([evm, solana])).toEqual([
      { ...evm, confirmations: 1, maxFeeGwei: 100 },
      { ...solana, confirmations: 1, program: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr' },
    ]);
  });

  it.each([
    ['a name twice', [evm, { ...evm, signerKeyEnv: 'OTHER' }], 'Each chain needs a name of its own.'],
    ['a signer twice on one chain', [evm, { ...evm, name: 'other' }], 'need signers of their own'],
    ['an id of the other family', [{ ...evm, caip2: solana.caip2 }], '/0/caip2'],
    ['an address without a scheme', [{ ...evm, rpcUrls: ['localhost:8545'] }], '/0/rpcUrls/0'],
    ['an unknown member', [{ ...evm, signerKey: 'x' }], '/0/signerKey'],
    ['no JSON', '[', 'cannot be read as JSON'],
    ['no list', {}, 'the list'],
  ])('is refused with %s', (_what, contents, message) => {
    expect(() => read(contents)).toThrow(message);
  });

  it('is refused when it is not there', () => {
    expect(() => readChainFile(join(folder, 'absent.json'))).toThrow('CHAINS_FILE cannot be read');
  });
});
