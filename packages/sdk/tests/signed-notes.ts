import { generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto';

export interface Signer {
  readonly name: string;
  readonly id: Buffer;
  readonly key: KeyObject;
  readonly verifier: string;
}

/** A key by the specification of signed notes. */
export function signer(name: string): Signer {
  const { publicKey, privateKey: key } = generateKeyPairSync('ed25519');
  const typed = Buffer.concat([
    Buffer.of(1),
    publicKey.export({ format: 'der', type: 'spki' }).subarray(-32),
  ]);
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), typed]), 'buffer').subarray(0, 4);
  return { name, id, key, verifier: `${name}+${id.toString('hex')}+${typed.toString('base64')}` };
}

export const signature = ({ name, id, key }: Signer, text: string): string =>
  `\u2014 ${name} ${Buffer.concat([id, sign(null, Buffer.from(text), key)]).toString('base64')}\n`;
export const noteOf = (text: string, ...signers: Signer[]): string =>
  `${text}\n${signers.map((one) => signature(one, text)).join('')}`;
