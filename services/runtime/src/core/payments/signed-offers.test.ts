import {
  type Address,
  appendTransactionMessageInstruction,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getAddressDecoder,
  getBase64EncodedWireTransaction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { evmReader, readAuthorization } from './evm-authorization.js';
import type { Requirement } from './payment.js';
import { readTransaction, receivingAccountsOf, solanaReader } from './solana-transaction.js';

const NOW = 1_000_000_000_000;

describe('an authorization of EIP-3009', () => {
  const [payer, receiver] = [`0x${'aB'.repeat(20)}`, `0x${'22'.repeat(20)}`];
  const authorization = {
    from: payer,
    to: receiver,
    value: '50000',
    validAfter: '0',
    validBefore: String(NOW / 1000 + 60),
    nonce: `0x${'33'.repeat(32)}`,
  };
  const payload = { signature: `0x${'44'.repeat(65)}`, authorization };
  const requirement = { caip2: 'eip155:1', asset: '0xAA', payTo: receiver, amount: '50000' } as Requirement;

  it('is named by its token, payer and nonce, in whatever case they are written', () => {
    expect(evmReader(payload, requirement, NOW)).toMatchObject({
      key: `eip155:1/0xaa/${payer.toLowerCase()}/${authorization.nonce}`,
      validUntil: NOW + 60_000,
    });
    expect(readAuthorization(payload).authorization.from).toBe(payer.toLowerCase());
    expect(() => readAuthorization({})).toThrow('see payload/signature');
  });

  it.each(['', 'x', '0x', '1e3', '-1', '9'.repeat(79), String(2n ** 256n), 5, null, {}])(
    'takes no %j as a number',
    (number) => {
      for (const member of ['value', 'validAfter', 'validBefore']) {
        const other = { ...payload, authorization: { ...authorization, [member]: number } };
        const refused = {
          code: 'invalid_payment',
          message: expect.stringContaining(`authorization/${member}.`),
        };
        expect(() => readAuthorization(other)).toThrow(expect.objectContaining(refused));
      }
    },
  );

  it.each([
    ['receiver', { to: payer }],
    ['amount', { value: '49999' }],
    ['not valid yet', { validAfter: String(NOW / 1000 + 1) }],
    ['too long', { validBefore: String(NOW / 1000 + 601) }],
  ])('fulfils no other requirement: %s', (told, changes) => {
    const other = { ...payload, authorization: { ...authorization, ...changes } };
    expect(evmReader(other, requirement, NOW)).toEqual({ mismatch: expect.stringContaining(told) });
  });
});

describe('a transaction of Solana', () => {
  const named = (byte: number) => getAddressDecoder().decode(new Uint8Array(32).fill(byte));
  const [feePayer, payer, mint, account, blockhash] = [named(2), named(3), named(4), named(5), named(6)];
  const transferred = (amount: bigint, more: Partial<Record<'durable', true>> = {}) => {
    const data = new Uint8Array(10);
    data[0] = 12;
    new DataView(data.buffer).setBigUint64(1, amount, true);
    const programAddress = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;
    const accounts = [payer, mint, account, payer].map((address) => ({ address, role: 1 }));
    const nonce = {
      programAddress: '1'.repeat(32) as Address,
      accounts: [],
      data: new Uint8Array([4, 0, 0, 0]),
    };
    const lifetime = { blockhash: blockhash as string as Blockhash, lastValidBlockHeight: 9n };
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (made) => setTransactionMessageFeePayer(feePayer, made),
      (made) => setTransactionMessageLifetimeUsingBlockhash(lifetime, made),
      (made) => (more.durable ? appendTransactionMessageInstruction(nonce, made) : made),
      (made) => appendTransactionMessageInstruction({ programAddress, accounts, data }, made),
    );
    return { transaction: getBase64EncodedWireTransaction(compileTransaction(message)) };
  };
  const requirement = {
    caip2: 'solana:1',
    asset: mint,
    amount: '7',
    extra: { feePayer },
    receivingAccounts: [account],
  } as unknown as Requirement;

  it('is read as what it transfers, and named by its message', () => {
    const payload = transferred(7n);
    const { messageHash, transfers } = readTransaction(payload);
    expect(transfers).toEqual([{ mint, destination: account, authority: payer, amount: 7n }]);
    const key = `solana:1/${messageHash}`;
    expect(solanaReader(payload, requirement, NOW)).toMatchObject({ key, payer, validUntil: NOW + 60_000 });
    for (const transaction of ['x'.repeat(2000), 'AAAA'])
      expect(() => readTransaction({ transaction })).toThrow(
        expect.objectContaining({ code: 'invalid_payment' }),
      );
  });

  it('fulfils no other requirement', () => {
    expect(solanaReader(transferred(6n), requirement, NOW)).toHaveProperty('mismatch');
    expect(solanaReader(transferred(7n, { durable: true }), requirement, NOW)).toHaveProperty('mismatch');
    for (const other of [{ asset: payer }, { extra: {} }, { receivingAccounts: [] }])
      expect(solanaReader(transferred(7n), { ...requirement, ...other }, NOW)).toHaveProperty('mismatch');
  });

  it('pays one of two accounts of the receiver, whichever program the token belongs to', async () => {
    const accounts = await receivingAccountsOf(payer, mint);
    expect(new Set(accounts).size).toBe(2);
    expect(await receivingAccountsOf(payer, mint)).toEqual(accounts);
  });
});
