import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { holding, type Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import {
  type EvmPayments,
  type SolanaPayments,
  startEvmPayments,
  startSolanaPayments,
} from '@orrery/testing/payments';
import { temporaryFolder } from '@orrery/testing/servers';
import type { System } from '@orrery/testing/system';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { apiClient } from '../api/api-client.js';
import { SYSTEM_END_MS, startSystem } from '../starting/start-system.js';
import { publicWorld } from '../worlds/public-world.js';
import { PRICE, RECEIVER, sellToasts } from '../worlds/toasts.js';
import { paymentsOn } from './evm-offers.js';
import { createWallet } from './signing-wallet.js';

/** A system that takes payments on an EVM chain of its own, through the x402 library's facilitator. */
export const startPaidHouse = (databaseUrl?: string) =>
  holding(async (resources) => {
    const evm: EvmPayments = resources.use('chain', await startEvmPayments());
    const payments = paymentsOn('base-sepolia', { ...evm, asset: evm.token });
    /** A new private key with enough for ten executions. */
    const newPayer = async () => {
      const key = generatePrivateKey();
      await evm.fund(privateKeyToAccount(key).address, 10n * PRICE);
      return key;
    };
    return { ...(await startHouse(resources, payments, RECEIVER, databaseUrl)), evm, newPayer };
  }, PATIENT);

/** The same on Solana. */
export const startSolanaHouse = () =>
  holding(async (resources) => {
    const solana: SolanaPayments = resources.use('ledger', await startSolanaPayments());
    const payments = paymentsOn('solana-devnet', { ...solana, asset: solana.ledger.mint });
    const receiver = createWallet().address;
    await solana.ledger.fund(receiver as never, 0n);
    return { ...(await startHouse(resources, payments, receiver)), solana, receiver };
  }, PATIENT);

async function startHouse(
  resources: Resources,
  payments: object,
  payToAddress: string,
  databaseUrl?: string,
) {
  const folder = await temporaryFolder(resources, 'paid');
  const file = join(folder, 'payments.json');
  await writeFile(file, JSON.stringify(payments));
  const started = await startSystem(databaseUrl, { PAYMENTS_FILE: file });
  const system: System = resources.use('system', started, SYSTEM_END_MS);
  const api = apiClient(system.url, system.key);
  const world = await publicWorld(api);
  await sellToasts(api, world, payToAddress);
  return { system, api, world, folder };
}
