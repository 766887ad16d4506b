import { expect, it, vi } from 'vitest';
import { newReceiver, trustReceivers, verified, webhookHouse } from './webhook-house.js';

trustReceivers();

const DEPLOYMENTS = 50;
const EACH = 20;
/** Of each deployment. */
const HANGING = 2;
const ROUNDS = 3;

/** Executions of all deployments, one after the other; resolves with how long each delivery took, in milliseconds. */
async function trial(hanging: number) {
  const { house } = await webhookHouse();
  const receiver = await newReceiver();
  const [open, silent] = [new Map<string, string>(), new Map<string, string>()];
  const deployments = Array.from({ length: DEPLOYMENTS }, () => house.runtime.createDeployment());
  for (const deployment of deployments) {
    const params = { worldAddress: '1', address: deployment };
    const made = Array.from({ length: EACH }, async (_, at) => {
      const path = `/${at < hanging ? 'silent' : 'open'}/${deployment}/${at}`;
      const { data } = await house.call('webhooks.create', { params, body: { url: receiver.url + path } });
      (at < hanging ? silent : open).set(path, data.secret);
    });
    await Promise.all(made);
  }
  const executed = new Map<string, number>();
  const tookMs: number[] = [];
  const arrived = new Set<string>();
  receiver.behave(({ path, headers }) => {
    if (path.startsWith('/silent')) return 'hang';
    const id = String(headers['webhook-id']);
    // What is sent again, since a busy machine was late, has arrived before.
    if (!arrived.has(path + id)) tookMs.push(performance.now() - (executed.get(id) ?? 0));
    arrived.add(path + id);
    return 200;
  });
  const expected = (round: number) => open.size * round;
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const deployment of deployments) {
      const entry = house.runtime.execute(deployment);
      executed.set(entry.id, performance.now());
      await house.runtime.tell(deployment);
    }
    await vi.waitFor(() => expect(tookMs.length).toBe(expected(round)), 120_000);
  }
  for (const [path, secret] of open) {
    const seqs = receiver.deliveries
      .filter((one) => one.path === path)
      .map((one) => verified(secret, one).seq);
    expect([...new Set(seqs)]).toEqual(Array.from({ length: ROUNDS }, (_, round) => round + 2));
  }
  tookMs.sort((a, b) => a - b);
  const at = (share: number) => Math.round(tookMs[Math.floor(tookMs.length * share)] ?? 0);
  return {
    deliveries: tookMs.length,
    hung: receiver.deliveries.filter(({ path }) => path.startsWith('/silent')).length,
    p50: at(0.5),
    p99: at(0.99),
    most: at(0.9999),
  };
}

it(`${DEPLOYMENTS * HANGING} receivers that hang cost the other ${DEPLOYMENTS * (EACH - HANGING)} nothing`, async () => {
  const without = await trial(0);
  const beside = await trial(HANGING);
  process.stderr.write(`${JSON.stringify({ without, beside })}\n`);
  expect(beside.hung).toBeGreaterThanOrEqual(DEPLOYMENTS * HANGING);
  expect(beside.p50).toBeLessThan(without.p50 * 2 + 500);
  expect(beside.p99).toBeLessThan(without.p99 * 2 + 2000);
});
