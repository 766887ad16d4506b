import { writeFile } from 'node:fs/promises';
import type { EvmPayments } from '@orrery/testing/payments';
import { ExactEvmSchemeV1 } from '@x402/evm/v1';
import type { Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { ApiAnswer } from '../api-client.js';
import { PRICE } from './toasts.js';

interface Asked {
  readonly event: string;
  readonly input: { readonly name: string };
  readonly at: number;
}

/** Writes the operator's file that takes payments on this chain, through its facilitator. */
export async function writePaymentsFile(file: string, evm: EvmPayments): Promise<void> {
  const { facilitator, rpcUrl, token: asset } = evm;
  const usdc = { network: 'base-sepolia', asset, decimals: 6, name: 'USDC', version: '2' };
  const payments = { facilitatorUrl: facilitator.url, accepts: [{ ...usdc, rpcUrls: [rpcUrl] }] };
  await writeFile(file, JSON.stringify(payments));
}

/** Makes signed requests for a toast, each with a payment by a new payer; `uses` is how often it was charged. */
export const evmOffers =
  (evm: EvmPayments, send: (asked: Asked) => Promise<ApiAnswer>) => async (name: string) => {
    const asked = { event: 'toast', input: { name }, at: Date.now() - 500 };
    const { body } = await send(asked);
    const key = generatePrivateKey();
    const payer = privateKeyToAccount(key);
    await evm.fund(payer.address, PRICE);
    const { payload } = await new ExactEvmSchemeV1(payer).createPaymentPayload(1, body.accepts[0]);
    const payment = { x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload };
    const headers = { 'x-payment': Buffer.from(JSON.stringify(payment)).toString('base64') };
    const { nonce } = (payload as { authorization: { nonce: Hex } }).authorization;
    return { ...asked, headers, key, payer: payer.address, uses: () => evm.usesOf(payer.address, nonce) };
  };
