import { createPrivateKey, createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import type { Node } from './merkle-tree.js';

/** A key of the operator: signs checkpoints under its name. */
export interface SigningKey {
  /** The host of the origin, such as `orrery.example`. */
  readonly name: string;
  /** The public key in the form that verifiers of signed notes take: name, id and key, joined by `+`. */
  readonly verifier: string;
  /** The first four bytes of each of its signatures. */
  readonly id: Buffer;
  readonly key: KeyObject;
}

export const KEY_FORM =
  'keys such as orrery.example+<64 hex digits>, all of one host, separated by commas or in lines of their own, the newest first';

const MOST_KEYS = 8;
const ONE_KEY = /^([a-z0-9._:[\]-]{1,255})\+([0-9a-f]{64})$/i;

/** Undefined: what stands there are no keys, too many, or keys of several hosts. */
export function parseSigningKeys(text: string): readonly SigningKey[] | undefined {
  const parts = text.split(/[\s,]+/).filter((part) => part !== '');
  const keys = parts.flatMap((part) => {
    const [, name, seed] = ONE_KEY.exec(part) ?? [];
    return name === undefined || seed === undefined ? [] : [signingKey(name, Buffer.from(seed, 'hex'))];
  });
  const isOneHost = keys.every(({ name }) => name === keys[0]?.name);
  return keys.length === parts.length && keys.length <= MOST_KEYS && isOneHost ? keys : undefined;
}

/** What precedes the 32 bytes of a private key of ed25519 in PKCS #8 (RFC 8410). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
/** The type of ed25519 signatures in signed notes. */
const ED25519 = Buffer.of(1);

function signingKey(name: string, seed: Buffer): SigningKey {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
  const publicKey = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32);
  const typed = Buffer.concat([ED25519, publicKey]);
  const id = hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), typed]), 'buffer').subarray(0, 4);
  return { name, id, key, verifier: `${name}+${id.toString('hex')}+${typed.toString('base64')}` };
}

/** The end of a journal that its database lost: its last entry. */
export interface LostEnd {
  readonly seq: number;
  readonly hash: string;
}

/** A tree head, as its checkpoint states it. */
export interface TreeHead {
  readonly origin: string;
  readonly size: number;
  readonly root: Node;
  /** Where the database lost entries: what the generation before ended with. */
  readonly lost: LostEnd | null;
}

/** One journal of one host; after each loss of entries it is another one. */
export const originOf = (host: string, address: string, generation: number): string =>
  `${host}/${address}/${generation}`;

/** The text of a C2SP tlog-checkpoint; a generation after the first has a line that names the lost end. */
function checkpointText({ origin, size, root, lost }: TreeHead): string {
  const lines = [origin, String(size), root.toString('base64')];
  if (lost !== null) lines.push(`lost ${lost.seq} ${lost.hash}`);
  return lines.map((line) => `${line}\n`).join('');
}

/** A C2SP signed note: the checkpoint's text, and a signature of each key. */
export function signCheckpoint(head: TreeHead, keys: readonly SigningKey[]): string {
  const text = checkpointText(head);
  const signatures = keys.map(({ name, id, key }) => {
    const signature = Buffer.concat([id, sign(null, Buffer.from(text), key)]);
    return `\u2014 ${name} ${signature.toString('base64')}\n`;
  });
  return `${text}\n${signatures.join('')}`;
}
