import { expect, it, vi } from 'vitest';
import { ethereumWay } from './pay-on-evm.js';
import { solanaWay } from './pay-on-solana.js';
import { createPayer } from './payer.js';

const FROM = `0x${'1'.repeat(40)}`;
const OTHER = `0x${'B'.repeat(40)}`;
const accepted = {
  scheme: 'exact',
  network: 'eip155:84532',
  asset: `0x${'a'.repeat(40)}`,
  amount: '50000',
  payTo: `0x${'2'.repeat(40)}`,
  maxTimeoutSeconds: 120,
  extra: { name: 'USDC', version: '2' },
};
const asked = (accepts: object[]) => ({ x402Version: 2, accepts, resource: { url: 'x' } }) as never;

function paying(isPaid = true, chainId = '0x14a34') {
  const request = vi.fn(async ({ method }: { method: string; params?: unknown }): Promise<unknown> => {
    if (method === 'eth_requestAccounts') return [FROM];
    if (method === 'eth_chainId') return chainId;
    return method === 'eth_signTypedData_v4' ? '0xsigned' : null;
  });
  const confirm = vi.fn(async () => isPaid);
  const methods = () => request.mock.calls.map(([{ method }]) => method);
  return { payer: createPayer([ethereumWay({ request })], confirm), request, confirm, methods };
}

it('signs a transfer of exactly what is asked for, after the player has said yes', async () => {
  const { payer, request, confirm } = paying();
  const payment = await payer.createPaymentPayload(asked([{ ...accepted, network: 'solana:x' }, accepted]));
  expect(confirm).toHaveBeenCalledWith({
    amount: '50000',
    asset: accepted.asset,
    assetName: 'USDC',
    network: 'eip155:84532',
    payTo: accepted.payTo,
    decimals: undefined,
    payer: FROM,
  });
  expect(payment).toMatchObject({
    x402Version: 2,
    accepted,
    resource: { url: 'x' },
    payload: { signature: '0xsigned', authorization: { from: FROM, to: accepted.payTo, value: '50000' } },
  });
  const [asking] = request.mock.calls.at(-1) ?? [];
  const { params } = asking as { params: [string, string] };
  const signed = JSON.parse(params[1]);
  expect(signed.domain).toEqual({
    name: 'USDC',
    version: '2',
    chainId: 84532,
    verifyingContract: accepted.asset,
  });
  expect(signed.message).toEqual((payment as { payload: { authorization: object } }).payload.authorization);
});

it('signs nothing that the player has not agreed to, and nothing that it does not know', async () => {
  const refused = paying(false);
  await expect(refused.payer.createPaymentPayload(asked([accepted]))).rejects.toThrow(
    'You have not agreed to pay',
  );
  const others = [
    { ...accepted, scheme: 'upto' },
    { ...accepted, network: 'solana:x' },
    { ...accepted, extra: {} },
  ];
  const unknown = paying();
  await expect(unknown.payer.createPaymentPayload(asked(others))).rejects.toThrow(
    'None of your wallets can pay this',
  );
  expect([...refused.methods(), ...unknown.methods()]).toEqual(['eth_requestAccounts']);
});

it('asks the wallet to go to the chain, and authorizes ten minutes at most', async () => {
  const { payer, methods } = paying(true, '0x1');
  const payment = await payer.createPaymentPayload(asked([{ ...accepted, maxTimeoutSeconds: 1e9 }]));
  const { validBefore } = (payment as { payload: { authorization: { validBefore: string } } }).payload
    .authorization;
  expect(Number(validBefore) - Date.now() / 1000).toBeLessThanOrEqual(600);
  expect(methods()).toContain('wallet_switchEthereumChain');
});

it('takes the first way that the offer allows, and on Solana none without a payer of the fees', async () => {
  const confirm = vi.fn(async (_offer: object) => false);
  const request = async () => [FROM];
  const offer = { ...accepted, network: 'solana:x', extra: { feePayer: 'F' } };
  const takenOf = async (...accepts: object[]) => {
    confirm.mockClear();
    const solana = { ...solanaWay('A'), account: async () => 'A' };
    const payer = createPayer([solana, ethereumWay({ request })], confirm);
    await payer.createPaymentPayload(asked(accepts)).catch(() => undefined);
    return confirm.mock.calls.map(([told]) => told);
  };
  expect(await takenOf(accepted, offer)).toMatchObject([{ network: 'solana:x', assetName: '' }]);
  expect(await takenOf({ ...offer, extra: {} }, accepted)).toMatchObject([{ network: 'eip155:84532' }]);
});

it('pays from the player, whatever account the wallet shows first by now, and is the call from no other', async () => {
  const shown = vi.fn(async ({ method }: { method: string }): Promise<unknown> => {
    if (method === 'eth_requestAccounts') return [OTHER, FROM];
    return method === 'eth_chainId' ? '0x14a34' : '0xsigned';
  });
  const confirm = vi.fn(async (_offer: object) => true);
  const paidBy = async (account: string, isOnly: boolean) => {
    const payer = createPayer([ethereumWay({ request: shown }, { account, isOnly })], confirm);
    const { payload } = (await payer.createPaymentPayload(asked([accepted]))) as { payload: object };
    return payload;
  };
  const own = FROM.toUpperCase().replace('0X', '0x');
  expect(await paidBy(own, true)).toMatchObject({ authorization: { from: FROM } });
  expect(confirm).toHaveBeenLastCalledWith(expect.objectContaining({ payer: FROM }));
  const absent = `0x${'3'.repeat(40)}`;
  expect(await paidBy(absent, false)).toMatchObject({ authorization: { from: OTHER } });
  expect(confirm).toHaveBeenCalledTimes(2);
  await expect(paidBy(absent, true)).rejects.toThrow(`you play as ${absent}`);
  expect(confirm).toHaveBeenCalledTimes(2);
});

it('knows the decimals of assets that are well known, and of no others', async () => {
  const { payer, confirm } = paying();
  const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
  await payer.createPaymentPayload(asked([{ ...accepted, asset }]));
  expect(confirm).toHaveBeenLastCalledWith(expect.objectContaining({ decimals: 6 }));
});
