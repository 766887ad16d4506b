#!/usr/bin/env node
// Reads what the registry contract on an EVM chain holds of a deployment, and checks it against its journal. What it has in
// common with verify-history.mjs stands in both: a stranger who checks an operator reads and runs each as one file.
// ORRERY_KEY=<key> node docs/read-pushes.mjs <RPC URL> <contract> <base URL> <world> <deployment> [chain]
import { createHash, hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
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

const canonical = (json) => {
  check(typeof json !== 'string' || json.isWellFormed(), 'half of a surrogate pair has no canonical text');
  if (json === null || typeof json !== 'object') return JSON.stringify(json);
  if (Array.isArray(json)) return `[${json.map(canonical).join(',')}]`;
  const keys = Object.keys(json).sort();
  return `{${keys.map((key) => `${canonical(key)}:${canonical(json[key])}`).join(',')}}`;
};
const COVERED =
  'v deployment id seq kind event eventVersion versionHash trigger caller status input changes result error llmHash attestation paymentKey executedAt prevHash';
const ADDED = 'decidedAt evaluator timers cause depth readHistoryHash replayOf randomness';

/**
 * `JSON.parse` of Node.js 24 may read a key that is written with an escape as another key
 * (https://github.com/nodejs/node/issues/63785): such keys are parsed apart from their objects.
 */
function parse(text) {
  // Begins no key: one more of these characters than stand anywhere in a row.
  const runs = (text.match(/\uf8ff+/g) ?? []).map(({ length }) => length);
  const mark = '\uf8ff'.repeat(1 + runs.reduce((longest, length) => Math.max(longest, length), 0));
  const keys = [];
  const marked = text.replace(/"[^"\\]*(?:\\.[^"\\]*)*"(\s*:)?/gs, (token, colon) => {
    if (colon === undefined || !token.includes('\\')) return token;
    return `"${mark}${keys.push(JSON.parse(token.slice(0, -colon.length))) - 1}":`;
  });
  if (keys.length === 0) return JSON.parse(text);
  const nameOf = (key) => (key.startsWith(mark) ? keys[key.slice(mark.length)] : key);
  return JSON.parse(marked, (_, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [nameOf(key), member]));
  });
}

/** What the chain holds, in its order. */
async function pushedContents() {
  const client = createPublicClient({ transport: http(rpc) });
  const filter = { address: contract, abi, eventName: 'Pushed', args: { deployment }, fromBlock: 0n };
  return (await client.getContractEvents(filter)).map(({ args, transactionHash }) => {
    const [entryHash, digest] = [args.entryHash.slice(2), args.digest.slice(2)];
    const text = hexToString(args.data);
    check(text === '' || sha256(text) === digest, `push ${args.number} does not have its digest`);
    const content = text === '' ? null : parse(text);
    check(content === null || content.entryHash === entryHash, `push ${args.number} names two entries`);
    return { number: Number(args.number), entryHash, digest, content, transactionHash };
  });
}

/** The data of an answer. Where the server is asked too often, it is asked again when it says so, ten times at most. */
async function get(path) {
  const url = `${base}/api/worlds/${world}/deployments/${deployment}${path}`;
  for (let tries = 1; ; tries++) {
    const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const text = await answer.text();
    if (answer.ok) return parse(text).data;
    check(answer.status === 429 && tries < 10, `${url} answers ${answer.status}`);
    await setTimeout(1000 * Math.min(Number(answer.headers.get('retry-after') ?? 1) || 0, 60));
  }
}

/** The deployment's journal, oldest entry first, each with the hash of what it says and of the entry before it. */
async function journalOf() {
  const entries = [];
  for (let after = ''; ; after = `&after=${entries.at(-1).seq}`) {
    const page = await get(`/history?include=all&limit=40${after}`);
    entries.push(...page);
    if (page.length < 40) break;
  }
  const { address, source } = await get('');
  check(address === deployment.toLowerCase(), `it is of ${address}, not of ${deployment}`);
  let prevHash = sha256(canonical({ deployment: address, source }));
  for (const [at, entry] of entries.reverse().entries()) {
    const follows = entry.seq === at + 1 && entry.prevHash === prevHash && entry.deployment === address;
    check(follows, `entry ${at + 1} does not follow the one before`);
    prevHash = hashOf(entry);
    check(prevHash === entry.hash, `the hash of entry ${entry.seq} does not cover it`);
  }
  return entries;
}

function hashOf(entry) {
  const added = ADDED.split(' ').filter((member) => entry[member] !== undefined);
  check(entry.v === 2 || (entry.v === 1 && added.length === 0), `entry ${entry.seq} is of another version`);
  const members = [...COVERED.split(' '), ...added];
  return sha256(canonical(Object.fromEntries(members.map((member) => [member, entry[member]]))));
}

/** The root of the RFC 6962 tree over entries (history.md, "Checkpoints"). */
function rootOf(entries) {
  const node = (...parts) => hash('sha256', Buffer.concat(parts), 'buffer');
  const over = (leaves) => {
    if (leaves.length === 1) return leaves[0];
    const left = 2 ** Math.floor(Math.log2(leaves.length - 1));
    return node(Buffer.of(1), over(leaves.slice(0, left)), over(leaves.slice(left)));
  };
  return over(entries.map((entry) => node(Buffer.of(0), Buffer.from(entry.hash, 'hex')))).toString('hex');
}

/** How many entries a head covers whose push was skipped, so that the chain holds nothing but its digest; undefined: it is none. */
function sizeOfSkippedHead({ number, entryHash, digest, content }) {
  const size = journal.findIndex((entry) => entry.hash === entryHash) + 1;
  if (content !== null || size === 0) return undefined;
  const covered = journal.slice(0, size);
  const generation = covered.filter(({ kind }) => kind === 'tail_lost').length + 1;
  const rootHash = rootOf(covered);
  // Canonical JSON: its members are sorted.
  const head = { generation, rootHash, size };
  const text = JSON.stringify({ deployment: covered[0].deployment, entryHash, head, number, v: 1 });
  return sha256(text) === digest ? size : undefined;
}

const pushed = await pushedContents();
const journal = await journalOf();
const isPushed = (one) => one.pushes.some((push) => chain === undefined || push.chain === chain);
const history = journal.filter(isPushed);
const results = [];
const heads = [];
for (const [at, push] of pushed.entries()) {
  const { number, entryHash, content } = push;
  check(number === at + 1, `number ${number} is not the next one`);
  const head = content?.head;
  if (head !== undefined) {
    const { size, rootHash } = head;
    check(size <= journal.length, `push ${number} covers ${size} entries: the end of the journal is gone`);
    const isSame = rootOf(journal.slice(0, size)) === rootHash && journal[size - 1].hash === entryHash;
    check(isSame, `the first ${size} entries are not those that push ${number} covers`);
    heads.push({ number, size });
    continue;
  }
  const entry = history[results.length];
  const skipped = entry?.hash === entryHash ? undefined : sizeOfSkippedHead(push);
  if (skipped !== undefined) {
    heads.push({ number, size: skipped });
    continue;
  }
  check(entry !== undefined, 'the chain holds more than the history');
  check(entryHash === entry.hash, `push ${number} is not of the execution in its place`);
  check(content === null || content.historyId === entry.id, `push ${number} names another execution`);
  results.push({ number, result: content?.result ?? null });
}
const waiting = history.length - results.length;
const found = { valid: true, pushed: pushed.length, waiting, results, ...(heads.length > 0 && { heads }) };
process.stdout.write(`${JSON.stringify(found)}\n`);
