import { connect, PermissionViolationError } from '@nats-io/transport-node';
import {
  type Contract,
  JsonText,
  runtimeContract,
  ServiceError,
  TRAFFIC,
  type Traffic,
} from '@orrery/contracts';
import { systemClock } from '@orrery/service-kit';
import { describeWithNats } from '@orrery/testing';
import { startNatsServer, type TestServer } from '@orrery/testing/servers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Bus, connectBus } from '../src/index.js';
import { passwordVariable, usersFile } from '../src/nats-users/users-file.js';
import { inTime, logLines } from './harness.js';

const PREFIX = 'test.orrery';
const SUBSCRIBER = 'scores';
/** A payload of each broadcast that another service hears. */
const BROADCASTS: Readonly<Record<string, unknown>> = {
  'journal-heads': { heads: [] },
  'lifecycle-changed': { deployments: [] },
  'occurrences-ended': { occurrences: [] },
  'push-result': { deployment: `0x${'4f'.repeat(20)}`, pushes: [] },
};
const users = [...Object.keys(TRAFFIC), SUBSCRIBER];
const secretOf = (user: string) => `p${Buffer.from(user).toString('hex')}`;
const traffic = Object.entries<Traffic>(TRAFFIC);

describeWithNats('NATS with a user for each service', suite, { own: true });

function suite(): void {
  const { lines, logger } = logLines();
  const buses = new Map<string, Bus>();
  const stop = new AbortController();
  let nats: TestServer;
  const urlOf = (user: string) => `nats://${user}:${secretOf(user)}@127.0.0.1:${nats.port}`;
  const busOf = (service: string): Bus => {
    const bus = buses.get(service);
    if (bus === undefined) throw new Error(`no bus of ${service}`);
    return bus;
  };

  beforeAll(async () => {
    const env = Object.fromEntries(users.map((user) => [passwordVariable(user), secretOf(user)]));
    nats = await startNatsServer({ config: usersFile(PREFIX, [SUBSCRIBER]), env });
    for (const [service, { serves }] of traffic) {
      const options = { url: urlOf(service), subjectPrefix: PREFIX, service, logger, clock: systemClock };
      const bus = await connectBus(options);
      buses.set(service, bus);
      if (serves !== undefined) await bus.serve(serves, refusing(serves));
    }
  });
  afterAll(async () => {
    stop.abort();
    await Promise.all([...buses.values()].map((bus) => bus.close()));
    await nats.stop();
  });

  it.each(traffic)('lets %s make its calls', async (service, { calls }) => {
    for (const rpc of calls) {
      const refusal = await busOf(service)
        .call(rpc, {}, inTime())
        .catch((error: unknown) => error);
      // It arrived: either its schema or the handler refuses it.
      expect(refusal, rpc.name).toBeInstanceOf(ServiceError);
      expect(['validation_failed', 'body_must_be_array', 'route_not_found']).toContain(
        (refusal as ServiceError).code,
      );
    }
  });

  it.each(traffic)('lets %s consume and hear what it follows', async (service, { consumes, listens }) => {
    for (const { consumer, message } of consumes) {
      const arrives = `${consumer} ${message.name}`;
      const { signal } = stop;
      await busOf(service).consume(message, { consumer, handle: async () => undefined, signal });
      // What is no message of its kind becomes a dead letter at once.
      const sent = await busOf(message.service).publishAll(message, [
        { id: arrives, payload: new JsonText('[]') },
      ]);
      expect(sent).toEqual([undefined]);
      const hasArrived = (line: string) => line.includes('dead letter') && line.includes(arrives);
      await vi.waitFor(() => expect(lines.some(hasArrived)).toBe(true));
    }
    for (const message of listens) {
      const heard: unknown[] = [];
      await busOf(service).listen(message, (payload) => heard.push(payload), stop.signal);
      await busOf(message.service).broadcast(message, BROADCASTS[message.name] as never);
      await vi.waitFor(() => expect(heard).toHaveLength(1));
    }
  });

  it('refuses nothing that the services do', () => {
    expect(lines.filter((line) => line.includes('NATS refuses'))).toEqual([]);
  });

  describe('refuses', () => {
    const fact = `${PREFIX}.facts.runtime.journal-entry`;
    const stream = 'TEST_ORRERY_FACTS';
    it.each([
      ['catalog', 'publish', fact],
      ['scheduler', 'publish', `${PREFIX}.runtime.bindings.add`],
      ['scheduler', 'publish', `${PREFIX}.runtime.deployments.execute`],
      ['scheduler', 'publish', `${PREFIX}.runtime.deployments.execute.one`],
      ['chain-pusher', 'publish', `${PREFIX}.runtime.deployments.execute@one`],
      ['chain-pusher', 'publish', `${PREFIX}.catalog.worlds.delete`],
      ['catalog', 'subscribe', `${PREFIX}.runtime.deployments.execute`],
      ['gateway', 'subscribe', `${PREFIX}.inbox.runtime.>`],
      ['runtime', 'subscribe', `${PREFIX}.facts.>`],
      ['scheduler', 'publish', `$JS.API.STREAM.DELETE.${stream}`],
      ['catalog', 'publish', `$JS.API.CONSUMER.MSG.NEXT.${stream}.chain-pusher-runtime_journal-entry`],
      [SUBSCRIBER, 'publish', fact],
      [SUBSCRIBER, 'publish', runtimeContract.rpcs['deployments.execute'].subject.replace('orrery', PREFIX)],
      [SUBSCRIBER, 'publish', `${PREFIX}.runtime.lifecycle.read`],
      [SUBSCRIBER, 'publish', `$JS.API.STREAM.INFO.${stream}`],
      [SUBSCRIBER, 'publish', `$JS.API.CONSUMER.DELETE.${stream}.chain-pusher-runtime_journal-entry`],
      [
        SUBSCRIBER,
        'publish',
        `$JS.API.CONSUMER.CREATE.${stream}.scores-runtime_journal-entry.${PREFIX}.facts.gateway.account-changed`,
      ],
      [SUBSCRIBER, 'subscribe', `${PREFIX}.>`],
      [SUBSCRIBER, 'subscribe', `${PREFIX}.broadcasts.gateway.keys-revoked`],
    ])('%s that would %s %s', async (user, operation, subject) => {
      await using refused = await refusals(urlOf(user));
      refused.attempt(operation, subject);
      await vi.waitFor(() => expect(refused.seen).toEqual([`${operation} ${subject}`]));
    });
  });

  it('refuses whoever has no password', async () => {
    await expect(connect({ servers: `127.0.0.1:${nats.port}`, maxReconnectAttempts: 0 })).rejects.toThrow();
  });
}

/** Handlers that refuse every call that reaches them. */
const refusing = ({ rpcs }: Contract) =>
  Object.fromEntries(
    Object.keys(rpcs).map((name) => [
      name,
      async () => {
        throw new ServiceError('route_not_found');
      },
    ]),
  );

/** A plain connection, and what the server refuses it. */
async function refusals(url: string) {
  const { username: user, password: pass, host } = new URL(url);
  const connection = await connect({ servers: host, user, pass });
  const seen: string[] = [];
  const follow = async () => {
    for await (const status of connection.status())
      if (status.type === 'error' && status.error instanceof PermissionViolationError)
        seen.push(
          `${status.error.operation === 'publish' ? 'publish' : 'subscribe'} ${status.error.subject}`,
        );
  };
  const following = follow();
  return {
    seen,
    attempt: (operation: string, subject: string) => {
      if (operation === 'publish') connection.publish(subject, '{}');
      else connection.subscribe(subject, { callback: () => undefined });
    },
    [Symbol.asyncDispose]: async () => {
      await connection.close();
      await following;
    },
  };
}
