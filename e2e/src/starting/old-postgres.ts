import { createServer } from 'node:net';
import { listen } from '@orrery/testing/servers';

export interface OldPostgres extends AsyncDisposable {
  readonly url: string;
}

/** What a server of an old major says, as far as a client needs to hear it (PostgreSQL's protocol, version 3). */
export async function startOldPostgres(version: { number: string; text: string }): Promise<OldPostgres> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // The first message of a connection has no letter.
    socket.once('data', () => {
      socket.write(Buffer.concat([message('R', int32(0)), ready]));
      socket.on('data', (data) => {
        if (data.toString('latin1', 0, 1) === 'Q') socket.write(versionRow(version));
      });
    });
  });
  const listening = await listen(server);
  return {
    url: `postgres://orrery@127.0.0.1:${listening.port}/orrery`,
    [Symbol.asyncDispose]: () => listening[Symbol.asyncDispose](),
  };
}

const int16 = (value: number) => Buffer.from([value >> 8, value & 255]);
const int32 = (value: number) => Buffer.concat([int16(value >> 16), int16(value & 0xffff)]);
const message = (letter: string, body: Buffer) =>
  Buffer.concat([Buffer.from(letter), int32(body.length + 4), body]);
const ready = message('Z', Buffer.from('I'));
const TEXT_OID = 25;

function versionRow({ number, text }: { number: string; text: string }): Buffer {
  const column = (name: string) =>
    Buffer.concat([Buffer.from(`${name}\0`), int32(0), int16(0), int32(TEXT_OID), Buffer.alloc(8)]);
  const value = (content: string) => Buffer.concat([int32(content.length), Buffer.from(content)]);
  return Buffer.concat([
    message('T', Buffer.concat([int16(2), column('number'), column('text')])),
    message('D', Buffer.concat([int16(2), value(number), value(text)])),
    message('C', Buffer.from('SELECT 1\0')),
    ready,
  ]);
}
