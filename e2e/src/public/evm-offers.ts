import { writeFile } from 'node:fs/promises';
import type { EvmPayments } from '@orrery/testing/payments';
import { ExactEvmSchemeV1 } from '@x402/evm/v1';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { ApiAnswer } from '../api/api-client.js';
import { PRICE } from '../worlds/toasts.js';

interface Asked {
  readonly event: string;
  readonly input: { readonly name: string };
  readonly at: number;
}

interface Chain {
  readonly facilitator: { readonly url: string };
  readonly rpcUrl: string;
  readonly asset: string;
}

/** The operator's file that takes payments on a chain, through its facilitator. */
export const paymentsOn = (network: string, { facilitator, rpcUrl, asset }: Chain) => ({
  facilitatorUrl: facilitator.url,
  accepts: [{ network, asset, decimals: 6, name: 'USDC', version: '2', rpcUrls: [rpcUrl] }],
});

/** Writes such a file for an EVM chain. */
export const writePaymentsFile = (file: string, evm: EvmPayments): Promise<void> =>
  writeFile(file, JSON.stringify(paymentsOn('base-sepolia', { ...evm, asset: evm.token })));

/** Pays what a 402 asks for first, by the key of an account that has enough; with `terms` in place of what it says. */
export async function payWith(key: Hex, { accepts }: ApiAnswer['body'], terms = {}) {
  const scheme = new ExactEvmSchemeV1(privateKeyToAccount(key));
  const { payload } = await scheme.createPaymentPayload(1, { ...accepts[0], ...terms });
  const payment = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload };
  const headers = { 'x-payment': Buffer.from(JSON.stringify(payment)).toString('base64') };
  const { nonce } = (payload as { authorization: { nonce: Hex } }).authorization;
  return { headers, nonce };
}

/** Makes signed requests for a toast, each with a payment by a new payer; `uses` is how often it was charged. */
export const evmOffers =
  (evm: EvmPayments, send: (asked: Asked) => Promise<ApiAnswer>) => async (name: string) => {
    const asked = { event: 'toast', input: { name }, at: Date.now() - 500 };
    const { body } = await send(asked);
    const key = generatePrivateKey();
    const payer = privateKeyToAccount(key).address;
    await evm.fund(payer, PRICE);
    const { headers, nonce } = await payWith(key, body);
    return { ...asked, headers, key, payer, uses: () => evm.usesOf(payer, nonce) };
  };
