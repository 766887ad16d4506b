import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import bs58 from 'bs58';

/** A wallet's part of a request. */
interface Wallet {
  readonly address: string;
  readonly privateKey: KeyObject;
}

interface SignedFor {
  /** Of the system that the requests are sent to. */
  readonly url: string;
  /** Their addresses. */
  readonly deployments: readonly string[];
}

const WALLETS = 1000;

const createWallet = (): Wallet => {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  return { address: bs58.encode(Buffer.from(x, 'base64url')), privateKey };
};

/** Signs requests of public execution before the load begins. */
export class SignedRequests {
  readonly #wallets = Array.from({ length: WALLETS }, createWallet);
  #time = 0;

  /**
   * Writes `count` requests to a file, each with a message of its own: a line with its length in bytes, then all of it. The
   * messages are as old as wallets send them, a few seconds: one signed before its deployment was read is looked up.
   */
  async write(file: string, count: number, { url, deployments }: SignedFor): Promise<void> {
    const { host } = new URL(url);
    const lines: string[] = [];
    this.#time = Math.max(this.#time, Date.now());
    for (let index = 0; index < count; index += 1) {
      const address = deployments[index % deployments.length] ?? '';
      const request = requestOf(host, address, JSON.stringify(this.#bodyOf(address, index)));
      lines.push(String(request.length), request);
    }
    await writeFile(file, lines.join('\n'));
  }

  /** No wallet signs two messages of the same time. */
  #bodyOf(deployment: string, index: number): object {
    const { address, privateKey } = this.#wallets[index % WALLETS] as Wallet;
    if (index % WALLETS === 0) this.#time += 1;
    const message = `orrery:${deployment}:tick:${this.#time}`;
    const signature = bs58.encode(sign(null, Buffer.from(message), privateKey));
    return { event: 'tick', input: { id: 'one', by: 1 }, wallet: address, signature, message };
  }
}

/** All characters are ASCII. */
const requestOf = (host: string, deployment: string, body: string): string =>
  [
    `POST /app/deployments/${deployment}/execute HTTP/1.1`,
    `Host: ${host}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    '',
    body,
  ].join('\r\n');
