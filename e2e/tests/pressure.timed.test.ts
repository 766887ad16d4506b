import { readdir, readFile } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { startPace } from '@orrery/contracts/test-support';
import { type System, startAllInOne } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { apiClient } from '../src/api/api-client.js';
import { counterWorld, countRequest } from '../src/worlds/counter-world.js';

/** Clients that behave, and how long they are watched beside the others. */
const CLIENTS = 8;
const WATCHED_MS = 6000;

interface Outcome {
  /** 0: the connection was closed before an answer was read. */
  status: number;
  ms: number;
  retryAfter: string | undefined;
}

let system: System;
let agent: Agent;
let path: string;
beforeAll(async () => {
  system = await startAllInOne(undefined, { RATE_LIMITS: 'false' });
  agent = new Agent({ keepAlive: true, maxSockets: 5000 });
  const { deploy } = await counterWorld(apiClient(system.url, system.key));
  path = `/api${await deploy()}/execute`;
  await watch(() => execute(), CLIENTS, 2000);
});
afterAll(async () => {
  agent?.destroy();
  await system?.[Symbol.asyncDispose]();
});

const send = (body: string): Promise<Outcome> =>
  new Promise((resolve) => {
    const askedAt = performance.now();
    const end = (status: number, retryAfter?: string) =>
      resolve({ status, ms: performance.now() - askedAt, retryAfter });
    const headers = {
      authorization: `Bearer ${system.key}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const asked = request(`${system.url}${path}`, { agent, method: 'POST', headers }, (answer) => {
      answer.resume().on('end', () => end(answer.statusCode ?? 0, answer.headers['retry-after']));
      answer.on('error', () => end(0));
    });
    asked.on('error', () => end(0)).end(body);
  });

const execute = () => send(JSON.stringify(countRequest(1)));

/** Clients that send one request after the other. */
async function watch(one: () => Promise<Outcome>, clients: number, ms: number): Promise<Outcome[]> {
  const outcomes: Outcome[] = [];
  const until = performance.now() + ms;
  const client = async () => {
    while (performance.now() < until) outcomes.push(await one());
  };
  await Promise.all(Array.from({ length: clients }, client));
  return outcomes;
}

function figuresOf(outcomes: readonly Outcome[]) {
  const took = outcomes.map(({ ms }) => ms).sort((a, b) => a - b);
  const at = (share: number) => Math.round(took[Math.floor(took.length * share)] ?? 0);
  const statuses: Record<number, number> = {};
  for (const { status } of outcomes) statuses[status] = (statuses[status] ?? 0) + 1;
  return { p50: at(0.5), p99: at(0.99), statuses };
}

const report = (what: string, figures: object) =>
  process.stdout.write(`${what}: ${JSON.stringify(figures)}\n`);

it.each([
  ['text', 'x'.repeat(1024 * 1024 - 200)],
  ['lists', Array.from({ length: 170_000 }, () => [1])],
])('64 connections that send 1 MiB of %s neither fill the memory nor stop the others', async (what, pad) => {
  using pace = startPace();
  const large = JSON.stringify({ event: 'count', input: { operation: 1, counter: 'C', pad } });
  const [hostile, others] = await Promise.all([
    watch(() => send(large), 64, WATCHED_MS),
    watch(execute, CLIENTS, WATCHED_MS),
  ]);
  const memory = await residentMib();
  const figures = { hostile: figuresOf(hostile), others: figuresOf(others), memory };
  report(`64 x 1 MiB of ${what}`, figures);
  expect(hostile.filter(({ status }) => status !== 413 && status !== 0)).toEqual([]);
  expect(figures.hostile.statuses[413]).toBeGreaterThan(hostile.length * 0.9);
  expect(Object.keys(figures.others.statuses)).toEqual(['200']);
  // Measured 270 ms and 320 MiB, where it was 10 s and 1.7 GiB.
  expect(figures.others.p99).toBeLessThan(3000 * pace.slowness());
  expect(memory).toBeLessThan(600);
});

it('more slow bodies than may be under way take no place, and end with 408', async () => {
  using pace = startPace();
  const slow = Array.from({ length: 1100 }, () => slowBody());
  const drip = setInterval(() => {
    for (const { socket } of slow) if (socket.writable) socket.write(' ');
  }, 500);
  const others = figuresOf(await watch(execute, 64, WATCHED_MS));
  report('beside 1,100 slow bodies', others);
  expect(Object.keys(others.statuses)).toEqual(['200']);
  expect(others.p99).toBeLessThan(3000 * pace.slowness());
  const answers = await Promise.all(slow.map(({ answer }) => answer));
  clearInterval(drip);
  expect(new Set(answers)).toEqual(new Set(['HTTP/1.1 408']));
});

it('2,000 requests at one moment are answered, or told when to come again', async () => {
  const outcomes = await Promise.all(Array.from({ length: 2000 }, execute));
  const figures = figuresOf(outcomes);
  report('2,000 at one moment', figures);
  const refused = outcomes.filter(({ status }) => status !== 200);
  for (const { status, retryAfter } of refused)
    expect([status, retryAfter]).toEqual([503, expect.stringMatching(/^[123]$/)]);
  // On a quiet machine none is refused, on any other some are.
  expect(refused.length).toBeLessThan(outcomes.length);
});

/** A request whose body would take hours; the answer is its status line. */
function slowBody(): { socket: Socket; answer: Promise<string> } {
  const { hostname, port } = new URL(system.url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  const head = [
    `POST ${path} HTTP/1.1`,
    'host: x',
    `authorization: Bearer ${system.key}`,
    'content-type: application/json',
    'content-length: 60000',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n{"event":"co`);
  const answer = new Promise<string>((resolve) => {
    socket.once('data', (data) => resolve(String(data).slice(0, 'HTTP/1.1 408'.length)));
    socket.once('close', () => resolve('closed'));
  });
  return { socket, answer };
}

/** MiB of memory that the all-in-one, a child of this process, holds. Linux only: elsewhere 0. */
async function residentMib(): Promise<number> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const sizes = await Promise.all(
    pids.map(async (pid) => {
      const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
      const isOurs = status.includes(`\nPPid:\t${process.pid}\n`);
      return isOurs ? Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024 : 0;
    }),
  );
  return Math.round(Math.max(0, ...sizes));
}
