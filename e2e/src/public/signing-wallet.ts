import bs58 from 'bs58';
import nacl from 'tweetnacl';

/** What a wallet signs: the members of a public execution that its text is made of. */
export interface ToSign {
  readonly deployment: string;
  readonly event: string;
  /** Milliseconds since the epoch; now by default. */
  readonly at?: number;
}

export interface SigningWallet {
  /** Base58 of the public key. */
  readonly address: string;
  /** The signed members of a request's body. */
  sign(what: ToSign): { wallet: string; message: string; signature: string };
}

/** A wallet as strangers have it: another implementation of ed25519 than the one that verifies. */
export function createWallet(): SigningWallet {
  const { publicKey, secretKey } = nacl.sign.keyPair();
  const address = bs58.encode(publicKey);
  return {
    address,
    sign: ({ deployment, event, at = Date.now() }) => {
      const message = `orrery:${deployment}:${event}:${at}`;
      const signature = nacl.sign.detached(Buffer.from(message, 'utf8'), secretKey);
      return { wallet: address, message, signature: bs58.encode(signature) };
    },
  };
}
