import type { JsMsg } from '@nats-io/jetstream';
import { expect, it } from 'vitest';
import { writeFactHeaders } from './headers.js';
import { createDeliveries } from './read.js';

/** Just enough of a message. */
function message(seq: number, deliveryCount: number, said: string[]): JsMsg {
  const headers = writeFactHeaders('orrery.facts.racing.lapRun', {
    id: 'ä 1',
    key: 'k\n',
    headers: { traceparent: 't' },
    body: '',
  });
  return {
    info: { streamSequence: seq, deliveryCount },
    headers,
    string: () => '{}',
    ack: () => said.push(`ack ${seq}`),
    nak: (ms?: number) => said.push(`nak ${seq} ${ms}`),
    working: () => said.push(`working ${seq}`),
  } as unknown as JsMsg;
}

it('reads id, key and headers as they were published', () => {
  const delivery = createDeliveries().take(message(1, 1, []));
  expect(delivery).toMatchObject({
    id: 'ä 1',
    key: 'k\n',
    headers: { traceparent: 't' },
    body: '{}',
    tries: 1,
  });
});

it('counts deliveries as tries', () => {
  const said: string[] = [];
  const deliveries = createDeliveries();
  const second = deliveries.take(message(1, 2, said));
  expect(second.tries).toBe(2);
  second.sendBack(10.4);
  deliveries.take(message(1, 3, said)).sendBack(0);
  expect(said).toEqual(['nak 1 10', 'nak 1 1']);
});

it('keeps alive only what is in work', () => {
  const said: string[] = [];
  const deliveries = createDeliveries();
  deliveries.take(message(1, 1, said)).done();
  deliveries.take(message(2, 1, said)).sendBack(5);
  deliveries.take(message(3, 1, said));
  deliveries.keepAlive();
  expect(said).toEqual(['ack 1', 'nak 2 5', 'working 3']);
});
