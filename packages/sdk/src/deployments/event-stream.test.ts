import { expect, it } from 'vitest';
import { createSilence } from './silence.js';
import { eventsOf, type ServerEvent } from './stream.js';

const PATIENCE_MS = 10_000;
const text = `: hello

id: 3
event: execution
data: {"name":"Zoë 🐎"}

id: 4
event: execution
data: {"text":"lines\u2028and\u2029paragraphs"}

event: push\r
data: first\r
data: second\r
\r
: still here
id: 4

id: 5
event: execution
data: cut o`;

async function read(chunkSize: number): Promise<ServerEvent[]> {
  const bytes = new TextEncoder().encode(text);
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (let at = 0; at < bytes.length; at += chunkSize)
        controller.enqueue(bytes.slice(at, at + chunkSize));
      controller.close();
    },
  });
  const events: ServerEvent[] = [];
  for await (const event of eventsOf(body, createSilence(PATIENCE_MS))) events.push(event);
  return events;
}

it.each([1, 2, 3, 7, 10_000])(
  'reads the same blocks in chunks of %i bytes, and leaves out what was cut off',
  async (size) => {
    expect(await read(size)).toEqual([
      { event: 'message', id: undefined, data: '' },
      { event: 'execution', id: '3', data: '{"name":"Zoë 🐎"}' },
      { event: 'execution', id: '4', data: '{"text":"lines\u2028and\u2029paragraphs"}' },
      { event: 'push', id: undefined, data: 'first\nsecond' },
      { event: 'message', id: '4', data: '' },
    ]);
  },
);
