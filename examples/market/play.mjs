// A market: anyone with a wallet looks for nothing, and orders for five cents by x402.
//
// Who pays is the account whose private key is in the file EVM_KEY_FILE; without one the price is shown and nothing is
// paid. `npm run local-payments` makes a chain of your own with such an account (examples/README.md).
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInstances, openWorld, orrery, orreryData, refused, say } from '../orrery.mjs';

const { ORRERY_DATA_DIR = '.orrery', PAY_TO = '0x2222222222222222222222222222222222222222' } = process.env;
const { EVM_KEY_FILE = join(ORRERY_DATA_DIR, 'payer-key') } = process.env;

const {
  deployment: market,
  address,
  instances,
} = await openWorld(import.meta.url, {
  says: 'A market day, which is paid to an address of yours (PAY_TO)',
  options: ['--pay-to-address', PAY_TO],
});
await createInstances(market, instances);
await orrery('execute', market, 'restock', 'good=honey', 'quantity=12');

say('Published, it is open to everyone who has a wallet');
await orrery('deployments', 'publish', market);
const folder = mkdtempSync(join(tmpdir(), 'market-'));
const wallet = join(folder, 'wallet.json');
await orrery('wallets', 'create', wallet);
const publicly = (event, input, ...more) => {
  const signed = ['--wallet', wallet, '--deployment', address, '--event', event];
  return ['public', 'execute', ...signed, '--input', JSON.stringify(input), ...more];
};
await orrery(...publicly('look', {}));

say('An order has its price: the refusal says what to pay, and how');
await refused(...publicly('order', { good: 'bread' }));

if (existsSync(EVM_KEY_FILE)) {
  const paying = ['--pay', '--max-usd', '0.05', '--evm-key', EVM_KEY_FILE];
  say('Paid for, it takes effect');
  await orrery(...publicly('order', { good: 'bread', note: 'sliced' }, ...paying));

  say('There was one bread: the next order fails, and is not charged');
  await refused(...publicly('order', { good: 'bread' }, ...paying));
} else {
  say(
    `Nobody pays, as there is no ${EVM_KEY_FILE}: examples/README.md says how to pay on a chain of your own`,
  );
}

say('What the market has, what was ordered, and what was paid');
await orrery('instances', 'list', market, '--entity-schema', 'good');
await orrery('instances', 'list', market, '--entity-schema', 'order');
await orrery('payments', 'list', market);

say(
  'What if the rule had been another? The day again, with shelves that hold ten of a good, in a fork that reaches nobody',
);
const rule = fileURLToPath(new URL('capped-restock.yaml', import.meta.url));
const [world] = market.split('/');
const version = ['versions', 'create', world, 'restock', '--body', rule];
const made = await orreryData(({ event, version }) => ({ event, version }), ...version);
await orrery('replay', market, '--event', `restock=${made.version}`);
rmSync(folder, { recursive: true });
