import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { clientSubject, isFromHere } from './clients.js';

function from(remoteAddress: string | undefined, headers: Record<string, string> = {}): boolean {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress });
  const raw = new IncomingMessage(socket);
  Object.assign(raw.headers, headers);
  return isFromHere({ raw });
}

describe('a request from this machine', () => {
  it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1'])('comes from %s', (address) => {
    expect(from(address)).toBe(true);
  });

  it.each(['10.0.0.7', '192.168.127.0', '::ffff:10.0.0.7', 'fe80::1', '127.0.0.1.example', undefined])(
    'does not come from %s',
    (address) => {
      expect(from(address)).toBe(false);
    },
  );

  it.each(['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'])(
    'has no header %s: a proxy sent that for somebody else',
    (name) => {
      expect(from('127.0.0.1', { [name]: '127.0.0.1' })).toBe(false);
    },
  );
});

describe('client addresses', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0db8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (address, subject) => {
    expect(clientSubject(address)).toBe(subject);
  });
});
