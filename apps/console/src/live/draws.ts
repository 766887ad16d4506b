import type { components } from '@orrery/sdk';

export type Randomness = components['schemas']['EntryRandomness'];

/** A draw, as each of the functions without a list would have told it. */
export interface Draw {
  /** Counted from 0. */
  readonly k: number;
  /** `random.float()` */
  readonly fraction: number;
  /** `random.int(1, 6)`; undefined: it would have been rejected. */
  readonly die: number | undefined;
}

const bytesOf = (hex: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(hex.match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

async function hmac(key: Uint8Array<ArrayBuffer>, message: BufferSource): Promise<ArrayBuffer> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['sign']);
  return crypto.subtle.sign('HMAC', imported, message);
}

/** The first draws of a seed, computed here from docs/templates.md, "Random numbers", and not by the service. */
export const firstDraws = (seed: string, count: number): Promise<Draw[]> =>
  Promise.all(
    Array.from({ length: count }, async (_, k) => {
      const message = new DataView(new ArrayBuffer(8));
      message.setBigUint64(0, BigInt(k));
      const x = new DataView(await hmac(bytesOf(seed), message)).getBigUint64(0);
      const isFair = x < 2n ** 64n - (2n ** 64n % 6n);
      return { k, fraction: Number(x >> 11n) / 2 ** 53, die: isFair ? Number(x % 6n) + 1 : undefined };
    }),
  );
