import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { startEvmPayments } from './evm-payments.js';

/** Units of the token that the payer gets: ten dollars. */
const FUNDS = 10_000_000n;

/** Payments without the internet, until it is stopped: a chain, a facilitator, and the files that name them. */
const [folder = process.env['ORRERY_DATA_DIR'] ?? '.orrery'] = process.argv.slice(2);
await using payments = await startEvmPayments();
const { facilitator, rpcUrl, token: asset } = payments;
const payer = generatePrivateKey();
await payments.fund(privateKeyToAccount(payer).address, FUNDS);

const dollar = { network: 'base-sepolia', asset, decimals: 6, name: 'USDC', version: '2', rpcUrls: [rpcUrl] };
const [paymentsFile, keyFile] = [join(folder, 'payments.json'), join(folder, 'payer-key')];
await mkdir(folder, { recursive: true, mode: 0o700 });
await writeFile(
  paymentsFile,
  JSON.stringify({ facilitatorUrl: facilitator.url, accepts: [dollar] }, null, 2),
);
await writeFile(keyFile, `${payer}\n`, { mode: 0o600 });
process.stdout.write(`
  A chain like Base Sepolia, with a test dollar, runs at ${rpcUrl} (chain id 84532).

  PAYMENTS_FILE=${paymentsFile} npm start    lets Orrery take payments on it
  ${keyFile}    has the key of an account with ten test dollars

  Ctrl-C ends it; nothing of the chain is kept, nor these two files.
`);
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
// They name a chain that is gone.
await Promise.all([paymentsFile, keyFile].map((file) => rm(file, { force: true })));
