import { expect, it } from 'vitest';
import { type BusWorld, inTime } from '../harness.js';
import { echoContract, echoHandlers, large } from '../specimens.js';

const MIB = 1024 * 1024;

/** What does not fit into one message of NATS. */
export function describeLargeBodies(open: () => BusWorld): void {
  it('carries 5 MiB both ways, each request to one process', async () => {
    for (const _ of ['a', 'b']) await (await open().join()).serve(echoContract, echoHandlers());
    const client = await open().join();
    const text = 'ä'.repeat(2.5 * MIB);
    const call = () => client.call(large, { text, answerBytes: 5 * MIB }, inTime());
    for (const reply of await Promise.all([call(), call(), call()])) {
      expect(reply.received).toBe(text.length);
      expect(reply.text).toBe('x'.repeat(5 * MIB));
    }
  });

  it('refuses more than 32 MiB: a request as body_too_large, a reply as internal', async () => {
    await (await open().join()).serve(echoContract, echoHandlers());
    const client = await open().join();
    const request = client.call(large, { text: 'x'.repeat(32 * MIB), answerBytes: 0 }, inTime());
    await expect(request).rejects.toMatchObject({ code: 'body_too_large' });
    const reply = client.call(large, { text: '', answerBytes: 32 * MIB }, inTime());
    await expect(reply).rejects.toMatchObject({
      code: 'internal',
      message: expect.stringContaining('too large'),
    });
  });
}
