import { jetstreamManager } from '@nats-io/jetstream';
import { connect, nanos } from '@nats-io/transport-node';
import { systemClock } from '@orrery/service-kit';
import { describeWithNats } from '@orrery/testing';
import { expect, it } from 'vitest';
import { connectBus } from '../src/index.js';
import type { StreamLimits } from '../src/nats/stream.js';
import { logLines } from './harness.js';
import { lapRun } from './specimens.js';

const MIB = 1024 * 1024;

describeWithNats('streams and consumers', (url) => {
  it('are made at a start, and changed to what a later start declares', async () => {
    const { logger } = logLines();
    const subjectPrefix = 'declared.twice';
    const stop = new AbortController();
    await using wire = {
      nats: await connect({ servers: url }),
      [Symbol.asyncDispose]: () => wire.nats.close(),
    };
    const manager = await jetstreamManager(wire.nats);
    const start = async (stream: StreamLimits) => {
      const bus = await connectBus({
        url,
        subjectPrefix,
        stream,
        service: 'test',
        logger,
        clock: systemClock,
      });
      await bus.consume(lapRun, { consumer: 'laps', handle: async () => undefined, signal: stop.signal });
      const [consumer] = await manager.consumers.list('DECLARED_TWICE_FACTS').next();
      await bus.close();
      return {
        stream: (await manager.streams.info('DECLARED_TWICE_FACTS')).config,
        consumer: consumer?.config,
      };
    };

    const first = await start({ maxBytes: 16 * MIB, maxAgeMs: 3_600_000 });
    expect(first.stream).toMatchObject({ max_bytes: 16 * MIB, subjects: ['declared.twice.facts.>'] });
    const { durable_name: durable = '' } = first.consumer ?? {};
    await manager.consumers.update('DECLARED_TWICE_FACTS', durable, {
      ack_wait: nanos(1000),
      max_ack_pending: 7,
    });

    const second = await start({ maxBytes: 32 * MIB, maxAgeMs: 7_200_000 });
    expect(second.stream).toMatchObject({ max_bytes: 32 * MIB, max_age: nanos(7_200_000) });
    expect(second.consumer).toEqual(first.consumer);
    await manager.streams.delete('DECLARED_TWICE_FACTS');
  });
});
