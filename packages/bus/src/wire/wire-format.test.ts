import { startTelemetry } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import {
  decodeUntrusted,
  encodeBody,
  injectTrace,
  readCallHeaders,
  withinTrace,
  writeCallHeaders,
} from './wire-format.js';

const caller = { kind: 'schedule', event: 'Rennen\n🐎' } as const;

it('measures bodies in bytes', () => {
  expect(encodeBody('ää', 6)).toBe('"ää"');
  expect(() => encodeBody('äää', 6)).toThrow(expect.objectContaining({ code: 'body_too_large' }));
  expect(encodeBody(undefined, 4)).toBe('null');
});

it('refuses polluting keys and numbers that are none', () => {
  for (const body of ['{"__proto__":{}}', '{"a":1e400}'])
    expect(() => decodeUntrusted(body)).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  expect(decodeUntrusted('{"a":1}')).toEqual({ a: 1 });
});

it('carries caller and request, and the time that remains, whatever the other clock says', () => {
  const written = writeCallHeaders({ caller, requestId: 'r1', deadline: 10_000 }, 400);
  expect(readCallHeaders(written, 777_000)).toEqual({
    caller,
    requestId: 'r1',
    leavesRun: false,
    deadline: 777_400,
  });
  const left = writeCallHeaders({ caller, requestId: 'r1', callId: 'c1', leavesRun: true, deadline: 1 }, 400);
  expect(readCallHeaders(left, 0)).toMatchObject({ callId: 'c1', leavesRun: true });
});

it('refuses a request that says nothing about its caller or deadline', () => {
  expect(() => readCallHeaders({}, 0)).toThrow();
  expect(() => readCallHeaders({ 'orrery-deadline': '1 2' }, 0)).toThrow();
  const anonymous = { 'orrery-caller': '{"kind":"anonymous"}' };
  for (const deadline of ['', '5000', '5000 soon'])
    expect(() => readCallHeaders({ ...anonymous, 'orrery-deadline': deadline }, 0)).toThrow('deadline');
});

it('carries a trace from the headers of one message to those of the next', async () => {
  await using _telemetry = await startTelemetry({ service: 'catalog', tracing: true, metrics: false });
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  expect(withinTrace({ traceparent }, () => injectTrace({}))).toMatchObject({ traceparent });
  expect(injectTrace({})).toEqual({});
});
