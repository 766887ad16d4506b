#!/usr/bin/env node
// Reads a deployment's results from the registry contract on an EVM chain, and checks them against its journal.
// node docs/read-pushes.mjs <RPC URL> <contract> <base URL> <world> <deployment> <token> [chain]
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createPublicClient, hexToString, http } from 'viem';

const [rpc, contract, base, world, deployment, token, chain] = process.argv.slice(2);
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
