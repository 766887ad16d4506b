import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bls12_381 } from '@noble/curves/bls12-381.js';
import { type ChainInfo, hashOfChain } from '@orrery/deciding';

const DST = { DST: 'BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_' };

/** A drand server with a chain of its own key, of a round each second. It signs no round before its time. */
export async function startBeacon() {
  const secret = randomBytes(32);
  secret[0] = 0;
  const info: ChainInfo = {
    public_key: Buffer.from(bls12_381.getPublicKeyForShortSignatures(secret)).toString('hex'),
    period: 1,
    genesis_time: Math.floor(Date.now() / 1000) - 1000,
    groupHash: 'ab'.repeat(32),
    schemeID: 'bls-unchained-g1-rfc9380',
    metadata: { beaconID: 'test' },
  };
  const chainHash = hashOfChain(info);
  const state = {
    /** `lying`: what it answers is signed by the chain, but is another round. */
    mode: 'on' as 'on' | 'away' | 'lying',
    asked: [] as number[],
    /** Requests that were answered with 503. */
    refused: 0,
  };
  const signed = (round: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigUInt64BE(BigInt(round));
    const message = createHash('sha256').update(bytes).digest();
    return Buffer.from(bls12_381.signShortSignature(message, secret, DST)).toString('hex');
  };
  const answerTo = (url: string): object | undefined => {
    if (state.mode === 'away') return undefined;
    if (url === `/${chainHash}/info`) return { ...info, hash: chainHash };
    const round = Number(new RegExp(`^/${chainHash}/public/(\\d+)$`).exec(url)?.[1]);
    if (!(info.genesis_time + (round - 1) * info.period <= Date.now() / 1000)) return undefined;
    state.asked.push(round);
    return { round, signature: signed(state.mode === 'lying' ? round - 1 : round) };
  };
  const server = createServer(({ url = '' }, response) => {
    const answer = answerTo(url);
    if (answer === undefined) state.refused += 1;
    response.writeHead(answer === undefined ? 503 : 200).end(JSON.stringify(answer ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    state,
    info,
    config: { url: `http://127.0.0.1:${port}`, chainHash },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
