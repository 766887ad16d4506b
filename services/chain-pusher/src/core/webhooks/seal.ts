import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** A key that secrets are encrypted with: 32 bytes. */
export type SealingKey = Buffer;

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface Seal {
  /** @param owner what it belongs to: it opens for that alone */
  close(text: string, owner: string): string;
  /** Undefined where no key opens it: the key is gone, or it belongs to another. */
  open(sealed: string, owner: string): string | undefined;
  /** What every text that is closed now begins with. */
  readonly current: string;
}

/** Encrypts texts for storage with the first key, and decrypts what any of the keys has closed. */
export function createSeal(keys: readonly [SealingKey, ...SealingKey[]]): Seal {
  const named = new Map(keys.map((key) => [nameOf(key), key]));
  const [first] = keys;
  const current = `${nameOf(first)}.`;
  return {
    current,
    close: (text, owner) => {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, first, nonce).setAAD(Buffer.from(owner));
      const closed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final()]);
      return current + Buffer.concat([closed, cipher.getAuthTag()]).toString('base64url');
    },
    open: (sealed, owner) => {
      const [name = '', data = ''] = sealed.split('.');
      const key = named.get(name);
      return key && opened(key, Buffer.from(data, 'base64url'), owner);
    },
  };
}

function opened(key: SealingKey, bytes: Buffer, owner: string): string | undefined {
  try {
    const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(Buffer.from(owner)).setAuthTag(bytes.subarray(-TAG_BYTES));
    return (
      decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    );
  } catch {
    return undefined;
  }
}

/** Tells keys apart without telling them. */
const nameOf = (key: SealingKey): string =>
  createHash('sha256').update('orrery sealing key').update(key).digest('hex').slice(0, 8);
