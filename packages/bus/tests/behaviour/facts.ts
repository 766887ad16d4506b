import { JsonText } from '@orrery/contracts';
import { expect, it } from 'vitest';
import type { ConsumeOptions } from '../../src/index.js';
import { collect, deferred } from '../collected.js';
import type { BusWorld } from '../harness.js';
import { lapRun, raceCalled } from '../specimens.js';

type Options = ConsumeOptions<typeof lapRun>;

/** Messages that last, and those of the moment. */
export function describeFacts(open: () => BusWorld): void {
  const lap = (number: number, horse = 'Zephyr') => ({ horse, number });
  let names = 0;
  /** A consumer of its own for each test; messages of earlier tests are filtered by their horse. */
  const consumer = () => `test-${names++}-${process.pid}`;
  const horseOf = (test: string) => `${test}-${process.pid}`;

  it('delivers what was published before and after, once when it was published twice', async () => {
    const bus = await open().join();
    const horse = horseOf('once');
    const seen = collect<number>();
    await bus.publish(lapRun, lap(1, horse), { id: `${horse}-1` });
    await using stop = disposableSignal();
    const handle: Options['handle'] = async (payload) => {
      if (payload.horse === horse) seen.add(payload.number);
    };
    const { consume } = await open().joinConsumer();
    await consume(lapRun, { consumer: consumer(), handle, signal: stop.signal });
    const again = [1, 2, 2, 3].map((n) => bus.publish(lapRun, lap(n, horse), { id: `${horse}-${n}` }));
    await Promise.all(again);
    await bus.publish(lapRun, lap(4, horse), { id: `${horse}-4` });
    expect([...(await seen.atLeast(4))].sort()).toEqual([1, 2, 3, 4]);
    expect(seen.items).toHaveLength(4);
  });

  it('hands each message to one of the processes of a consumer, and to every consumer', async () => {
    const horse = horseOf('shared');
    const publisher = await open().join();
    const [first, second] = [consumer(), consumer()];
    const seen = collect<string>();
    await using stop = disposableSignal();
    for (const name of open().manyProcesses ? [first, first, second] : [first, second]) {
      const bus = await open().joinConsumer();
      const handle: Options['handle'] = async (payload) => {
        if (payload.horse === horse) seen.add(`${name} ${payload.number}`);
      };
      await bus.consume(lapRun, { consumer: name, handle, signal: stop.signal });
    }
    for (let n = 1; n <= 10; n += 1) await publisher.publish(lapRun, lap(n, horse), { id: `${horse}-${n}` });
    const all = await seen.atLeast(20);
    expect(new Set(all).size).toBe(20);
  });

  it('keeps the order within a key, and lets other keys pass', async () => {
    const bus = await open().join();
    const [slow, quick] = [horseOf('slow'), horseOf('quick')];
    const order = collect<string>();
    const quickHasPassed = deferred();
    await using stop = disposableSignal();
    const handle: Options['handle'] = async ({ horse, number }) => {
      if (horse === slow && number === 2) await quickHasPassed.promise;
      if (horse === slow || horse === quick) order.add(`${horse} ${number}`);
      if (horse === quick && number === 5) quickHasPassed.resolve();
    };
    for (let n = 1; n <= 5; n += 1) {
      await bus.publish(lapRun, lap(n, slow), { id: `${slow}-${n}`, orderingKey: `key ${slow} é` });
      await bus.publish(lapRun, lap(n, quick), { id: `${quick}-${n}`, orderingKey: quick });
    }
    const { consume } = await open().joinConsumer();
    await consume(lapRun, { consumer: consumer(), handle, signal: stop.signal });
    const all = await order.atLeast(10);
    const of = (horse: string) => all.filter((one) => one.startsWith(horse)).map((one) => Number(one.at(-1)));
    expect(of(slow)).toEqual([1, 2, 3, 4, 5]);
    expect(of(quick)).toEqual([1, 2, 3, 4, 5]);
  });

  it('tries again after an error, while later messages go on', async () => {
    const bus = await open().join();
    const horse = horseOf('again');
    const seen = collect<{ number: number; at: number }>();
    await using stop = disposableSignal();
    const handle: Options['handle'] = async (payload) => {
      if (payload.horse !== horse) return;
      seen.add({ number: payload.number, at: performance.now() });
      if (seen.items.length === 1) throw new Error('stumbled');
    };
    const { consume } = await open().joinConsumer();
    await consume(lapRun, { consumer: consumer(), handle, signal: stop.signal });
    for (const n of [1, 2])
      await bus.publish(lapRun, lap(n, horse), { id: `${horse}-${n}`, orderingKey: horse });
    const [first, second, third] = await seen.atLeast(3);
    expect([first?.number, second?.number, third?.number]).toEqual([1, 2, 1]);
    expect((third?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(240);
    expect(open().log.some((line) => line.includes('stumbled'))).toBe(true);
  });

  it('sets aside what breaks its schema, then goes on', async () => {
    const bus = await open().join();
    const horse = horseOf('dead');
    const passed = collect<number>();
    await using stop = disposableSignal();
    const handle: Options['handle'] = async ({ horse: name, number }) => {
      if (name === horse) passed.add(number);
    };
    const loose = { ...lapRun, payload: raceCalled.payload.partial() };
    await bus.publish(loose, { horse }, { id: `${horse}-bad`, orderingKey: horse });
    await bus.publish(lapRun, lap(3, horse), { id: `${horse}-3`, orderingKey: horse });
    const { consume } = await open().joinConsumer();
    await consume(lapRun, { consumer: consumer(), handle, signal: stop.signal });
    expect(await passed.atLeast(1)).toEqual([3]);
    const letter = open().log.find((line) => line.includes('dead letter') && line.includes(`${horse}-bad`));
    expect(letter).toContain('/number');
  });

  it('goes on where it stopped after a restart of the consumer', async () => {
    const horse = horseOf('restart');
    const name = consumer();
    const publisher = await open().join();
    const seen = collect<number>();
    const runUntil = async (count: number) => {
      const bus = await open().joinConsumer();
      await using stop = disposableSignal();
      const handle: Options['handle'] = async (payload) => {
        if (payload.horse === horse) seen.add(payload.number);
      };
      await bus.consume(lapRun, { consumer: name, handle, signal: stop.signal });
      await seen.atLeast(count);
      await bus.close();
    };
    for (const n of [1, 2]) await publisher.publish(lapRun, lap(n, horse), { id: `${horse}-${n}` });
    await runUntil(2);
    for (const n of [3, 4]) await publisher.publish(lapRun, lap(n, horse), { id: `${horse}-${n}` });
    await runUntil(4);
    expect([...seen.items].sort()).toEqual([1, 2, 3, 4]);
  });

  it('finishes what is in work when the consumption ends', async () => {
    const bus = await open().joinConsumer();
    const horse = horseOf('finish');
    const started = deferred();
    const goOn = deferred();
    let finished = false;
    const stop = new AbortController();
    const handle: Options['handle'] = async (payload) => {
      if (payload.horse !== horse) return;
      started.resolve();
      await goOn.promise;
      finished = true;
    };
    await bus.consume(lapRun, { consumer: consumer(), handle, signal: stop.signal });
    await bus.publish(lapRun, lap(1, horse), { id: `${horse}-1` });
    await started.promise;
    stop.abort();
    const closed = bus.close();
    goOn.resolve();
    await closed;
    expect(finished).toBe(true);
  });

  it('refuses to publish what breaks the schema or is too large', async () => {
    const bus = await open().join();
    const wrong = bus.publish(lapRun, { horse: 'a', number: 0.5 }, { id: 'wrong' });
    await expect(wrong).rejects.toMatchObject({ code: 'validation_failed' });
    const huge = bus.publish(lapRun, lap(1, 'x'.repeat(1_000_000)), { id: 'huge' });
    await expect(huge).rejects.toMatchObject({ code: 'body_too_large' });
  });

  it('publishes many together, in order within a key, and says of each whether it is stored', async () => {
    const bus = await open().join();
    const [fine, broken] = [horseOf('many fine'), horseOf('many broken')];
    const seen = collect<string>();
    await using stop = disposableSignal();
    const publication = (horse: string, number: number, id = `${horse}\n${number}`) => ({
      payload: lap(number, horse),
      id,
      orderingKey: horse,
    });
    const pair = (n: number) => [publication(fine, n), publication(broken, n === 3 ? 0.5 : n)];
    const outcomes = await bus.publishAll(lapRun, [1, 2, 3, 4].flatMap(pair));
    expect(outcomes.map((error) => error?.code)).toEqual([
      ...[undefined, undefined, undefined, undefined],
      ...[undefined, 'validation_failed', undefined, 'validation_failed'],
    ]);
    const again = await bus.publishAll(lapRun, [
      publication(fine, 4),
      publication(fine, 5),
      publication(fine, 5),
    ]);
    expect(again).toEqual([undefined, undefined, undefined]);
    const handle: Options['handle'] = async ({ horse, number }) => {
      if (horse === fine || horse === broken) seen.add(`${horse} ${number}`);
    };
    const { consume } = await open().joinConsumer();
    await consume(lapRun, { consumer: consumer(), handle, signal: stop.signal });
    const all = await seen.atLeast(7);
    expect(all.filter((one) => one.startsWith(fine))).toEqual([1, 2, 3, 4, 5].map((n) => `${fine} ${n}`));
    expect(all.filter((one) => one.startsWith(broken))).toEqual([1, 2].map((n) => `${broken} ${n}`));
    expect(await bus.publishAll(lapRun, [])).toEqual([]);
  });

  it('carries what the largest entry of a journal takes', async () => {
    const bus = await open().join();
    const large = horseOf('large').padEnd(450_000, 'é');
    const seen = collect<number>();
    await using stop = disposableSignal();
    const handle: Options['handle'] = async (run) => {
      if (run.horse === large) seen.add(run.number);
    };
    const { consume } = await open().joinConsumer();
    await consume(lapRun, { consumer: consumer(), handle, signal: stop.signal });
    await bus.publish(lapRun, lap(5, large), { id: 'a large one' });
    expect([...(await seen.atLeast(1))]).toEqual([5]);
  });

  it('carries a text as it is, and refuses one that is too large', async () => {
    const bus = await open().join();
    const horse = horseOf('as text');
    const seen = collect<string>();
    await using stop = disposableSignal();
    const handle: Options['handle'] = async (run) => {
      if (run.horse === horse) seen.add(`${run.horse} ${run.number}`);
    };
    const { consume } = await open().joinConsumer();
    await consume(lapRun, { consumer: consumer(), handle, signal: stop.signal });
    const text = (horseName: string) => new JsonText(JSON.stringify(lap(7, horseName)));
    const outcomes = await bus.publishAll(lapRun, [
      { payload: text(horse), id: horse },
      { payload: text('x'.repeat(1_000_000)), id: 'x' },
    ]);
    expect(outcomes.map((error) => error?.code)).toEqual([undefined, 'body_too_large']);
    expect([...(await seen.atLeast(1))]).toEqual([`${horse} 7`]);
  });

  it('broadcasts to every listener of the moment', async () => {
    const heard = collect<string>();
    await using stop = disposableSignal();
    for (const name of ['a', 'b']) {
      const bus = await open().join();
      await bus.listen(raceCalled, ({ number }) => heard.add(`${name} ${number}`), stop.signal);
    }
    const bus = await open().join();
    await bus.broadcast(raceCalled, lap(1));
    expect([...(await heard.atLeast(2))].sort()).toEqual(['a 1', 'b 1']);
  });

  it('says that it is well', async () => {
    expect(await (await open().join()).health()).toEqual({ ok: true });
  });
}

/** An abort signal that ends with the block. */
function disposableSignal(): AsyncDisposable & { signal: AbortSignal } {
  const controller = new AbortController();
  return { signal: controller.signal, [Symbol.asyncDispose]: async () => controller.abort() };
}
