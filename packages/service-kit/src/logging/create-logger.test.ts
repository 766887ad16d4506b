import { type Span, trace } from '@opentelemetry/api';
import { describe, expect, it, vi } from 'vitest';
import { createLogger, type LogFormat } from './logger.js';

function linesOf(format: LogFormat, write: (logger: ReturnType<typeof createLogger>) => void): string[] {
  const lines: string[] = [];
  write(createLogger({ service: 'catalog', format, destination: { write: (line) => lines.push(line) } }));
  return lines;
}

describe('createLogger', () => {
  it('writes one JSON object a line with service, level and time', () => {
    const [line] = linesOf('json', (logger) => logger.info({ worlds: 3 }, 'ready'));
    expect(JSON.parse(line ?? '')).toMatchObject({
      service: 'catalog',
      level: 'info',
      msg: 'ready',
      worlds: 3,
    });
    expect(JSON.parse(line ?? '').time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
  });

  it('leaves out lines below its level', () => {
    expect(linesOf('json', (logger) => logger.debug('quiet'))).toEqual([]);
  });

  it.each([
    'authorization',
    'x-payment',
    'payment-signature',
    'token',
    'key',
    'secret',
    'password',
    'signature',
  ])('never writes the value of %s, however deep in a request or an error', (name) => {
    const err = Object.assign(new Error('refused'), { request: { headers: { [name]: 'hunter2' } } });
    const lines = linesOf('json', (logger) => {
      logger.error({ err }, 'failed');
      logger.info({
        [name]: 'hunter2',
        body: { [name]: 'hunter2' },
        req: { headers: { [name]: 'hunter2' } },
      });
      logger.child({ [name]: 'hunter2' }).info('child');
    });
    expect(lines).toHaveLength(3);
    expect(lines.join('')).not.toContain('hunter2');
  });

  it('writes text for a person: time, level, service, message, facts and the stack', () => {
    const [line] = linesOf('text', (logger) =>
      logger.error({ err: new Error('boom'), world: 7, name: 'a b' }, 'failed'),
    );
    expect(line).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} ERROR catalog failed world=7 name="a b"\n {4}Error: boom\n {4}/,
    );
  });

  it('names the trace that a line belongs to, if it is recorded', () => {
    const ids = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16) };
    const lineIn = (isRecorded: boolean) => {
      const span = { isRecording: () => isRecorded, spanContext: () => ids } as Span;
      const active = vi.spyOn(trace, 'getActiveSpan').mockReturnValue(span);
      const [line = ''] = linesOf('json', (logger) => logger.info('ready'));
      active.mockRestore();
      return JSON.parse(line);
    };
    expect(lineIn(true)).toMatchObject(ids);
    expect(lineIn(false)).not.toHaveProperty('traceId');
  });
});
