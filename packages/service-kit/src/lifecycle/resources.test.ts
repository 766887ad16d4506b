import { describe, expect, it } from 'vitest';
import { createLogger } from '../logging/logger.js';
import { holding, Resources } from './resources.js';

describe('Resources', () => {
  it('releases last in, first out, one after the other, each once', async () => {
    const order: string[] = [];
    const resources = new Resources();
    resources.add('first', () => order.push('first'));
    resources.add('second', async () => {
      await Promise.resolve();
      order.push('second');
    });
    await Promise.all([resources.release(), resources.release()]);
    expect(order).toEqual(['second', 'first']);
  });

  it('goes on after an error and reports all of them', async () => {
    const order: string[] = [];
    const lines: string[] = [];
    const logger = createLogger({ service: 'test', destination: { write: (line) => lines.push(line) } });
    const resources = new Resources({ logger });
    resources.add('a', () => order.push('a'));
    for (const name of ['b', 'c']) {
      resources.add(name, () => {
        throw new Error(`${name} is stuck`);
      });
    }
    const error = await resources.release().catch((caught: unknown) => caught);
    expect((error as AggregateError).errors.map(String)).toEqual(['Error: c is stuck', 'Error: b is stuck']);
    expect(order).toEqual(['a']);
    expect(lines).toHaveLength(2);
  });

  it('does not wait for ever', async () => {
    const order: string[] = [];
    const resources = new Resources({ releaseTimeoutMs: 5 });
    resources.add('a', () => order.push('a'));
    resources.add('stuck', () => new Promise(() => undefined));
    await expect(resources.release()).rejects.toThrow(AggregateError);
    expect(order).toEqual(['a']);
  });

  it('is released by `await using`, also when the block throws', async () => {
    const order: string[] = [];
    const half = async () => {
      await using resources = new Resources();
      resources.add('postgres', () => order.push('postgres'));
      throw new Error('no bus');
    };
    await expect(half()).rejects.toThrow('no bus');
    expect(order).toEqual(['postgres']);
  });

  it('refuses what is taken after the release', async () => {
    const resources = new Resources();
    await resources.release();
    expect(() => resources.add('late', () => undefined)).toThrow('late');
  });
});

describe('holding', () => {
  it('releases when the result is disposed', async () => {
    const order: string[] = [];
    const service = await holding(async (resources) => {
      resources.add('postgres', () => order.push('postgres'));
      return { answer: 42 };
    });
    expect([service.answer, ...order]).toEqual([42]);
    await service[Symbol.asyncDispose]();
    expect(order).toEqual(['postgres']);
  });

  it('releases what it holds also where that is the result itself', async () => {
    const order: string[] = [];
    const fleet = { [Symbol.asyncDispose]: async () => void order.push('fleet') };
    const started = await holding(async (resources) => {
      resources.add('nats', () => order.push('nats'));
      return resources.use('fleet', fleet);
    });
    await started[Symbol.asyncDispose]();
    expect(order).toEqual(['fleet', 'nats']);
  });

  it('releases what a failed start had taken', async () => {
    const order: string[] = [];
    const started = holding(async (resources) => {
      resources.add('postgres', () => order.push('postgres'));
      throw new Error('no bus');
    });
    await expect(started).rejects.toThrow('no bus');
    expect(order).toEqual(['postgres']);
  });
});
