import { type Clock, FIRST_CONTACT, StartupError, systemClock } from '@orrery/service-kit';
import { describeWithNats } from '@orrery/testing';
import { startNatsServer } from '@orrery/testing/servers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { type Bus, type ConnectBusOptions, connectBus } from '../src/index.js';
import { collect } from './collected.js';
import { logLines } from './harness.js';
import { lapRun } from './specimens.js';

/** Its first account, in which clients are that name none, has no JetStream. */
const WITHOUT_JETSTREAM = `
  no_auth_user: plain
  accounts { PLAIN { users: [{ user: plain, password: plain }] } }`;

type StartOptions = Partial<Pick<ConnectBusOptions, 'clock' | 'signal' | 'stream'>>;

describeWithNats('a start that meets a NATS', suite, { own: true });

function suite(): void {
  const start = (url: string, more: StartOptions = {}) => {
    const { lines, logger } = logLines();
    return { lines, bus: connectBus({ url, service: 'test', logger, clock: systemClock, ...more }) };
  };
  const serverAt = async (options: Parameters<typeof startNatsServer>[0]) => {
    const nats = await startNatsServer(options);
    onTestFinished(nats.stop);
    return nats;
  };
  /** A port that a server has just left. */
  const vacantPort = async () => {
    const nats = await startNatsServer();
    await nats.stop();
    return nats.port;
  };
  const expectWorking = async (bus: Bus) => {
    onTestFinished(() => bus.close());
    const stop = new AbortController();
    const seen = collect<number>();
    const handle = async ({ number }: { number: number }) => {
      seen.add(number);
    };
    await bus.consume(lapRun, { consumer: 'start', handle, signal: stop.signal });
    await bus.publish(lapRun, { horse: 'Zephyr', number: 1 }, { id: 'lap-1', orderingKey: 'Zephyr' });
    await vi.waitFor(() => expect(seen.items).toEqual([1]));
    stop.abort();
  };

  it('that is only just being started waits for it', async () => {
    const port = await vacantPort();
    const clock = firstWaiting(() => serverAt({ port }));
    await expectWorking(await start(`nats://127.0.0.1:${port}`, { clock }).bus);
  });

  it('that takes its connection and does not answer in time tries again', async () => {
    const nats = await serverAt({});
    process.kill(nats.pid, 'SIGSTOP');
    const goOn = () => process.kill(nats.pid, 'SIGCONT');
    // A stopped server does not end.
    onTestFinished(() => void goOn());
    const clock = firstWaiting(async () => goOn());
    await expectWorking(await start(nats.url, { clock }).bus);
  });

  it.each([
    ['without JetStream', WITHOUT_JETSTREAM, 'has no JetStream'],
    ['that wants a password', 'authorization { user: a, password: b }', 'Authorization'],
    ['that takes small messages only', 'max_payload: 65536', 'set its max_payload'],
  ])('%s ends at once and says so', async (_which, config, said) => {
    const { url } = await serverAt({ config });
    const { lines, bus } = start(url);
    const error = await bus.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StartupError);
    expect((error as Error).message).toContain(said);
    expect(lines.filter((line) => line.includes('retrying'))).toEqual([]);
  });

  it.each([
    [
      'whose storage is too small',
      {},
      'insufficient storage resources available): set NATS_MAX_MIB to less, or give its JetStream more storage (max_file_store).',
    ],
    [
      'without a cluster for copies',
      { replicas: 3, maxBytes: 16 * 1024 * 1024 },
      'replicas > 1 not supported in non-clustered mode): set NATS_REPLICAS to 1, or name the servers of a cluster in NATS_URL.',
    ],
  ])('%s says which setting to change', async (_which, stream, said) => {
    const { url } = await serverAt({ config: 'jetstream { max_file_store: 64MB }' });
    const clock = { ...systemClock, sleep: async () => undefined };
    const error = await start(url, { clock, stream }).bus.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StartupError);
    expect((error as Error).message).toContain(said);
  });

  it('that is not there ends after some attempts and says what to do', async () => {
    const port = await vacantPort();
    const waits: number[] = [];
    const clock = { ...systemClock, sleep: async (ms: number) => void waits.push(ms) };
    const error = await start(`nats://127.0.0.1:${port}`, { clock }).bus.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StartupError);
    expect((error as Error).message).toBe(
      `NATS at 127.0.0.1:${port} cannot be used (connection refused): start it there or set NATS_URL.`,
    );
    expect(waits).toHaveLength(FIRST_CONTACT.attempts - 1);
  });

  it('that is not there ends when the process is told to', async () => {
    const stopping = new AbortController();
    const { signal } = stopping;
    const clock = firstWaiting(async () => stopping.abort(new Error('told to end')));
    const { bus } = start(`nats://127.0.0.1:${await vacantPort()}`, { clock, signal });
    await expect(bus).rejects.toThrow('told to end');
  });
}

/** A clock whose first wait is over when `meanwhile` has happened; the others are real. */
function firstWaiting(meanwhile: () => Promise<unknown>): Clock {
  let isFirst = true;
  return {
    ...systemClock,
    sleep: async (ms, signal) => {
      if (!isFirst) return systemClock.sleep(ms, signal);
      isFirst = false;
      await meanwhile();
    },
  };
}
