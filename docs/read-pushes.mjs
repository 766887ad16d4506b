#!/usr/bin/env node
// Reads a deployment's results from the registry contract on an EVM chain, and checks them against its journal.
// ORRERY_KEY=<key> node docs/read-pushes.mjs <RPC URL> <contract> <base URL> <world> <deployment> [chain]
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createPublicClient, hexToString, http } from 'viem';

const [rpc, contract, base, world, deployment, chain, ...more] = process.argv.slice(2);
const { ORRERY_KEY: token } = process.env;
const isHttp = (text) => /^https?:\/\//.test(text ?? '') && URL.canParse(text);
const isAddress = (text) => /^0x[0-9a-f]{40}$/i.test(text ?? '');
/** What is wrong, or undefined. Nothing is asked before: an argument in another's place would be sent to a server. */
const objection = [
  [isHttp(rpc), 'The first argument is the URL of an RPC server of the chain.'],
  [isAddress(contract), 'The second argument is the address (0x…) of the registry contract.'],
  [isHttp(base), 'The third argument is the URL of the server, such as http://localhost:3000.'],
  [
    isAddress(world) || /^\d+$/.test(world ?? ''),
    'The fourth argument is the address (0x…) or the id of the world.',
  ],
  [isAddress(deployment), 'The fifth argument is the address (0x…) of the deployment.'],
  [chain === undefined || /^[a-z0-9][a-z0-9-]*$/.test(chain), 'The last argument is the name of a chain.'],
  [more.length === 0, 'There are too many arguments.'],
  [/^orrery_[\w-]+$/.test(token ?? ''), 'Set ORRERY_KEY to an API key that may read the deployment.'],
].find(([holds]) => !holds)?.[1];
if (objection !== undefined) {
  const usage =
    'ORRERY_KEY=<key> node docs/read-pushes.mjs <RPC URL> <contract> <base URL> <world> <deployment> [chain]';
  process.stderr.write(`usage: ${usage}\n${objection}\n`);
  process.exit(2);
}
const artifact = new URL('../services/chain-pusher/contracts/PushRegistry.json', import.meta.url);
const { abi } = JSON.parse(readFileSync(artifact, 'utf8'));
const sha256 = (text) => createHash('sha256').update(text, 'utf8').digest('hex');
const check = (holds, what) => {
  if (!holds) throw new Error(what);
};

/** What the chain holds, in its order. */
async function pushedResults() {
  const client = createPublicClient({ transport: http(rpc) });
  const filter = { address: contract, abi, eventName: 'Pushed', args: { deployment }, fromBlock: 0n };
  return (await client.getContractEvents(filter)).map(({ args, transactionHash }) => {
    const [entryHash, digest] = [args.entryHash.slice(2), args.digest.slice(2)];
    const text = hexToString(args.data);
    check(text === '' || sha256(text) === digest, `push ${args.number} does not have its digest`);
    const content = text === '' ? null : JSON.parse(text);
    check(content === null || content.entryHash === entryHash, `push ${args.number} names two entries`);
    return { number: Number(args.number), entryHash, content, transactionHash };
  });
}

/** The deployment's executions that were to be pushed, oldest first. */
async function historyOf() {
  const entries = [];
  for (let after = ''; ; after = `&after=${entries.at(-1).seq}`) {
    const url = `${base}/api/worlds/${world}/deployments/${deployment}/history?limit=40${after}`;
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    check(answer.ok, `${url} answers ${answer.status}`);
    const page = (await answer.json()).data;
    entries.push(...page);
    if (page.length < 40) break;
  }
  const isPushed = (one) => one.pushes.some((push) => chain === undefined || push.chain === chain);
  return entries.filter(isPushed).reverse();
}

const pushed = await pushedResults();
const history = await historyOf();
check(pushed.length <= history.length, 'the chain holds more than the history');
for (const [at, { number, entryHash, content }] of pushed.entries()) {
  check(number === at + 1, `number ${number} is not the next one`);
  check(entryHash === history[at].hash, `push ${number} is not of the execution in its place`);
  check(content === null || content.historyId === history[at].id, `push ${number} names another execution`);
}
const results = pushed.map(({ number, content }) => ({ number, result: content?.result ?? null }));
const waiting = history.length - pushed.length;
process.stdout.write(`${JSON.stringify({ valid: true, pushed: pushed.length, waiting, results })}\n`);
