import { BlockList } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createAddressRules, readNetworks } from './address-rules.js';

const publicOnly = createAddressRules(new BlockList());

describe('createAddressRules', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.32.0.1',
    '100.128.0.1',
    '223.255.255.255',
    '2606:4700:4700::1111',
    '2a00:1450:4001:82a::200e',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '64:ff9b::808:808',
  ])('allows %s', (address) => expect(publicOnly(address)).toBe(true));

  it.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.100.100.200',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.192',
    '192.0.2.1',
    '192.88.99.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::127.0.0.1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    '::ffff:a9fe:a9fe',
    '0:0:0:0:0:ffff:10.0.0.1',
    '::ffff:0:127.0.0.1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::a00:1',
    '64:ff9b::',
    '64:ff9b::1',
    '64:ff9b:1::8.8.8.8',
    '100::1',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    '2001:db8::1',
    '2002:7f00:1::',
    '2002:808:808::1',
    '3fff::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    '4000::1',
    'localhost',
    '',
    '2130706433',
    '0177.0.0.1',
    '127.1',
  ])('refuses %s', (address) => expect(publicOnly(address)).toBe(false));

  it('allows what the operator has named, in the form of IPv6 too', () => {
    const rules = createAddressRules(readNetworks('127.0.0.0/8, fd00::/8') ?? new BlockList());
    for (const address of ['127.0.0.1', '::ffff:127.0.0.1', 'fd12::1', '8.8.8.8'])
      expect(rules(address), address).toBe(true);
    for (const address of ['10.0.0.1', '::1', 'fe80::1']) expect(rules(address), address).toBe(false);
  });
});

describe('readNetworks', () => {
  it.each(['10.0.0.0/8', ' 10.0.0.0/8 , ::1/128', '', '0.0.0.0/0,::/0'])('reads %j', (text) =>
    expect(readNetworks(text)).toBeDefined(),
  );

  it.each(['10.0.0.0', '10.0.0.0/33', 'localhost/8', '::1/129', '10.0.0.0/08', 'fe80::1%eth0/64', '10/8'])(
    'refuses %j',
    (text) => expect(readNetworks(text)).toBeUndefined(),
  );
});
