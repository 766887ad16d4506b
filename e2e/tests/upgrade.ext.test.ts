import { Resources } from '@orrery/service-kit';
import { createTestDatabase, describeWithNats, PATIENT } from '@orrery/testing';
import { startNatsServer, withClient } from '@orrery/testing/servers';
import {
  BUILT_COMMAND,
  builtProgram,
  type Fleet,
  type Member,
  startFleet,
  startNode,
} from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contains } from '../src/api/check-answer.js';
import { findViolations } from '../src/invariants/find-violations.js';
import type { Try } from '../src/load/operation.js';
import { pooledClient } from '../src/load/pooled-client.js';
import { startCounting } from '../src/load/start-counting.js';
import { sharedBy, untilOwned } from '../src/load/until-owned.js';
import { createWallet } from '../src/public/signing-wallet.js';
import { buildRelease, PREVIOUS_RELEASE } from '../src/upgrade/build-release.js';
import { counterWorld } from '../src/worlds/counter-world.js';
import type { MadeDeployment } from '../src/worlds/make-world.js';
import { OPEN_EVENTS, publicWorld } from '../src/worlds/public-world.js';
import { scheduledWorld } from '../src/worlds/scheduled-world.js';

/** The order of the page on operations: gateways last. */
const ORDER = ['catalog', 'runtime', 'scheduler', 'chain-pusher', 'gateway'] as const;
const CLIENTS = 8;
const DEPLOYMENTS = 4;
/** Executions between one step and the next. */
const BETWEEN = 50;

/** Whether a call may be interrupted so while this process of the release before ends. */
function isOldEnding({ service }: Member, { code, detail }: Try): boolean {
  // Its services close their database before their bus, so that a call in between is answered so (503).
  if (detail.includes('The database is away.')) return true;
  // Its gateways have no SHUTDOWN_DELAY_MS: they cut connections that the balancer gives them before it has noticed.
  return service === 'gateway' && code === 'connection lost';
}

const from = process.env['UPGRADE_FROM'] || PREVIOUS_RELEASE;
const release = await buildRelease(from);

if (release === undefined)
  describe.skip(`an upgrade [SKIPPED: the repository does not have ${from}]`, () => it('needs it', () => 0));
else describeWithNats(`an upgrade from ${release.commit.slice(0, 12)}`, suite, { own: true });

function suite(): void {
  const resources = new Resources(PATIENT);
  let fleet: Fleet;
  beforeAll(async () => {
    const database = resources.use('database', await createTestDatabase());
    const nats = resources.use('nats', await startNatsServer());
    const programOf = (name: string) => release?.programOf(name) ?? '';
    const old = { programOf, command: programOf('orrery'), each: 1 };
    const backends = { databaseUrl: database.url, natsUrl: nats.url };
    // Leases that no pause of a machine ends: no call is interrupted.
    const env = { RATE_LIMITS: 'false', LEASE_TTL_MS: '30000' };
    fleet = resources.use('fleet', await startFleet({ ...backends, ...old }, env));
  });
  afterAll(() => resources.release());

  it('loses, fails and repeats nothing while both releases run, and after', async () => {
    using api = pooledClient(fleet.url, fleet.key, CLIENTS, 'this release or the one before');
    const { deploy } = await counterWorld(api);
    const { deploy: deploySchedule } = await scheduledWorld(api, '0 0 29 2 *');
    const deployments = await Promise.all(Array.from({ length: DEPLOYMENTS }, deploy));
    const scheduled = await deploySchedule();
    const runs = async () => {
      const { body } = await api.post(`${scheduled}/schedules/lap/run`);
      expect(body.data).toMatchObject({ status: 'fired', outcome: 'succeeded' });
    };
    const messages = messagesTo(fleet.url, await publicWorld(api));
    const counting = startCounting({ api, deployments, clients: CLIENTS, patienceMs: 200_000 });
    const goOn = async () => {
      await counting.acknowledged(counting.count() + BETWEEN);
      await messages.execute();
      expect(['the first answer', 'request_in_flight']).toEqual(
        expect.arrayContaining(await messages.repeat()),
      );
    };
    await goOn();
    await runs();
    const olds = ORDER.flatMap((service) => fleet.of(service));
    for (const service of ORDER) {
      await fleet.add(service, { program: builtProgram(service) });
      await goOn();
    }
    // Two of each: an old one and a new one.
    await untilOwned(fleet.databaseUrl, sharedBy(2));
    await goOn();
    await runs();
    expect(counting.interruptions()).toEqual([]);
    for (const old of olds) {
      const before = counting.interruptions().length;
      expect(await fleet.end(old), old.service).toBe(0);
      await goOn();
      const interruptions = counting.interruptions().slice(before);
      expect(
        interruptions.filter((one) => !isOldEnding(old, one)),
        old.service,
      ).toEqual([]);
    }
    const whileOldsEnded = counting.interruptions().length;
    // The operator says that no old process is left: until then entries have the form that these could read.
    expect(await versionsOf(fleet.databaseUrl)).toEqual([1]);
    await finishUpgrade(fleet);
    // A process looks for it once a second.
    await expect.poll(() => versionsOf(fleet.databaseUrl)).toEqual([1, 2]);
    await goOn();
    await runs();
    await counting.finish();
    expect(new Set(await messages.repeat())).toEqual(new Set(['the first answer']));
    expect(counting.interruptions().slice(whileOldsEnded)).toEqual([]);
    expect(await counting.problems()).toEqual([]);
    expect(await findViolations(fleet.databaseUrl)).toEqual([]);
  });
}

const finishUpgrade = async ({ commandEnv }: Fleet): Promise<void> => {
  await using command = startNode(BUILT_COMMAND, commandEnv, { args: ['database', 'finish-upgrade'] });
  expect(await command.exited).toBe(0);
};

const versionsOf = (databaseUrl: string): Promise<number[]> =>
  withClient(databaseUrl, async (client) => {
    const { rows } = await client.query('select distinct v from runtime.journal order by v');
    return rows.map(({ v }) => v);
  });

/** Executes messages of a wallet, and repeats them all. */
function messagesTo(url: string, { address }: MadeDeployment) {
  const wallet = createWallet();
  const answered: { request: object; answer: unknown }[] = [];
  const send = async (request: object) => {
    const response = await fetch(`${url}/app/deployments/${address}/execute`, {
      method: 'POST',
      // A gateway that ends closes its idle connections, perhaps just when a request is sent on one.
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(request),
    });
    return (await response.json()) as { data?: unknown; code?: string };
  };
  const [event] = OPEN_EVENTS;
  return {
    execute: async () => {
      const input = { name: `guest ${answered.length}` };
      const request = { event, input, ...wallet.sign({ deployment: address, event }) };
      const { data: answer, ...rest } = await send(request);
      expect(rest).toEqual({ success: true });
      answered.push({ request, answer });
    },
    /** What each repetition was answered. The newer release may add members to the answer that it serves. */
    repeat: () =>
      Promise.all(
        answered.map(async ({ request, answer }) => {
          const { data, code } = await send(request);
          return contains(data, answer) || contains(answer, data) ? 'the first answer' : code;
        }),
      ),
  };
}
