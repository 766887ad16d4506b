// An agent plays a season that it finds, reads and pays for through the Model Context Protocol alone.
//
// Who pays is the account whose private key is in the file EVM_KEY_FILE; without one the price is shown and nothing is
// paid. `npm run local-payments` makes a chain of your own with such an account (examples/README.md). What a language model
// would decide, `decide` decides here, from nothing but what the server says.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { x402Client } from '@x402/fetch';
import { privateKeyToAccount } from 'viem/accounts';
import { createInstances, openWorld, orrery, say } from '../orrery.mjs';

const { ORRERY_DATA_DIR = '.orrery', PAY_TO = '0x2222222222222222222222222222222222222222' } = process.env;
const { EVM_KEY_FILE = join(ORRERY_DATA_DIR, 'payer-key'), ORRERY_URL } = process.env;
const HORSES = ['BLAZE', 'COMET', 'DUSK'];
const RACES = 6;

const { deployment, address, instances } = await openWorld(import.meta.url, {
  says: 'A season that is paid to an address of yours (PAY_TO)',
  options: ['--pay-to-address', PAY_TO],
});
await createInstances(deployment, instances);
// Of a published world agents read what its events are.
await orrery('worlds', 'publish', deployment.split('/')[0]);
await orrery('deployments', 'publish', deployment);

say('An agent knows one address, and asks what there is');
const server = ORRERY_URL ?? readFileSync(join(ORRERY_DATA_DIR, 'url'), 'utf8').trim();
const agent = new Client({ name: 'agent', version: '1' }, { versionNegotiation: { mode: 'auto' } });
await agent.connect(new StreamableHTTPClientTransport(new URL(`/mcp/deployments/${address}`, server)));
const { tools } = await agent.listTools();
for (const { name, description, _meta } of tools)
  process.stdout.write(`${name}, $${_meta['orrery/priceUsd']}: ${description}\n`);
const { resources } = await agent.listResources();
const entities = resources.find(({ name }) => name === 'entity-instances').uri;

const payer = new x402Client().setSpendControls({ maxAmountPerPayment: '$0.01' });
const mayPay = existsSync(EVM_KEY_FILE);
if (mayPay)
  registerExactEvmScheme(payer, {
    signer: privateKeyToAccount(readFileSync(EVM_KEY_FILE, 'utf8').trim()),
  });

/** The entities as they are now, by schema. */
async function look() {
  const { contents } = await agent.readResource({ uri: entities });
  const ofSchema = (name) => JSON.parse(contents[0].text).data.filter((one) => one.entitySchema === name);
  return { horses: ofSchema('horse'), races: ofSchema('season')[0].state.races };
}

/** Enters the horses, then lets one win that has won least, until the season is over: a tool and its arguments. */
function decide({ horses, races }) {
  const missing = HORSES.find((name) => horses.every(({ instanceId }) => instanceId !== name));
  if (missing !== undefined) return { name: 'enter_horse', arguments: { horse: missing } };
  if (races === RACES) return undefined;
  const [least] = horses.toSorted((a, b) => a.state.wins - b.state.wins);
  return { name: 'run_race', arguments: { winner: least.instanceId } };
}

/** Calls a tool, and pays in-band what it asks for. */
async function use(call) {
  const asked = await agent.callTool(call);
  if (asked.structuredContent.x402Version === undefined) return asked;
  if (!mayPay) return undefined;
  const payment = await payer.createPaymentPayload(asked.structuredContent);
  return agent.callTool({ ...call, _meta: { 'x402/payment': payment } });
}

say('It reads, decides, calls and pays until the season is over');
for (let call = decide(await look()); call !== undefined; call = decide(await look())) {
  const result = await use(call);
  if (result === undefined) {
    say(
      `Nobody pays, as there is no ${EVM_KEY_FILE}: examples/README.md says how to pay on a chain of your own`,
    );
    break;
  }
  if (result.isError) throw new Error(result.content[0].text);
  const { transaction } = result._meta['x402/payment-response'];
  const changed = JSON.stringify(result.structuredContent.stateChanges);
  process.stdout.write(`${call.name} ${changed} paid by ${transaction}\n`);
}
await agent.close();

say('What its owner sees, and what was paid');
await orrery('instances', 'list', deployment, '--entity-schema', 'horse');
await orrery('payments', 'list', deployment);
