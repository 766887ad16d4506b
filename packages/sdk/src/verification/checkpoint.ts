import { toHex } from '../json/hex.js';

/** What a signed checkpoint says of a journal (docs/history.md, "Checkpoints"). */
export interface Checkpoint {
  /** Host, address of the deployment and generation, joined by slashes. */
  readonly origin: string;
  /** Entries that are covered. */
  readonly size: number;
  /** In 64 hex digits. */
  readonly rootHash: string;
  /** The last entry of the generation before, which the database lost; null in the first one. */
  readonly lost: { readonly seq: number; readonly hash: string } | null;
}

/**
 * Why a checkpoint is not accepted. `malformed`: it is none; `unsigned`: no key that is trusted has signed it, or its
 * signature is wrong; `other_journal`: it is of another journal than the earlier one, or than the one that was asked for;
 * `lost`: the database lost entries that the earlier one covers, and says so; `shorter`: it covers fewer entries than the
 * earlier one; `rewritten`: entries that the earlier one covers are other ones.
 */
export type CheckpointFault = 'malformed' | 'unsigned' | 'other_journal' | 'lost' | 'shorter' | 'rewritten';

/** A checkpoint is not accepted; the message is a sentence for people. */
export class CheckpointError extends Error {
  override readonly name = 'CheckpointError';
  readonly fault: CheckpointFault;
  /** The checkpoint that is refused, as the server answered it: keep it with the earlier one. */
  note: string | undefined;

  constructor(fault: CheckpointFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

const MOST_CHARACTERS = 64 * 1024;
const NOTE = /^([^\n]+\n(\d+)\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*)\n((?:\u2014 [^\n]+\n)+)$/;

/**
 * Reads a checkpoint that one of the keys has signed.
 *
 * @param note a signed note, as `GET …/head` answers it
 * @param keys public keys of the operator, as `keys` of that answer has them, got by another way
 * @throws CheckpointError `malformed` or `unsigned`
 */
export async function readCheckpoint(note: string, keys: readonly string[]): Promise<Checkpoint> {
  const [, text = '', digits, root = '', signatures = ''] =
    note.length > MOST_CHARACTERS ? [] : (NOTE.exec(note) ?? []);
  const size = Number(digits);
  if (!Number.isSafeInteger(size) || size < 1 || String(size) !== digits)
    throw new CheckpointError(
      'malformed',
      'The text is no checkpoint: a signed note with origin, size and root.',
    );
  await requireSignature(text, signatures, keys);
  const [origin = ''] = text.split('\n');
  const [, seq, hash] = /\nlost ([1-9]\d{0,15}) ([0-9a-f]{64})\n/.exec(text) ?? [];
  const lost = seq === undefined || hash === undefined ? null : { seq: Number(seq), hash };
  return { origin, size, rootHash: toHex(fromBase64(root)), lost };
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** Signatures of other keys are left out of account; one wrong signature of a trusted key is enough to refuse. */
async function requireSignature(text: string, signatures: string, keys: readonly string[]): Promise<void> {
  const lines = [...signatures.matchAll(/^\u2014 (\S+) (\S+)$/gm)].map(([, name, value = '']) => {
    const bytes = fromBase64(value);
    return { name, id: toHex(bytes.subarray(0, 4)), signature: bytes.slice(4) };
  });
  let signed = 0;
  for (const key of await Promise.all(keys.map(readKey)))
    for (const { name, id, signature } of lines) {
      if (name !== key.name || id !== key.id) continue;
      const isRight = await crypto.subtle.verify(
        'Ed25519',
        key.key,
        signature,
        new TextEncoder().encode(text),
      );
      if (!isRight)
        throw new CheckpointError('unsigned', `The signature of ${name} on the checkpoint is wrong.`);
      signed += 1;
    }
  if (signed === 0)
    throw new CheckpointError('unsigned', 'None of the keys that are trusted has signed the checkpoint.');
}

/** @throws TypeError for what is no public key */
async function readKey(text: string) {
  const [, name, id, encoded = ''] = /^([^+\s]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text.trim()) ?? [];
  const [type, ...key] = fromBase64(encoded);
  if (type !== 1 || key.length !== 32)
    throw new TypeError(
      `"${text.slice(0, 80)}" is no public key: one is host+id+key, as \`keys\` of GET …/head shows it.`,
    );
  const usages: KeyUsage[] = ['verify'];
  const imported = await crypto.subtle.importKey('raw', new Uint8Array(key), 'Ed25519', false, usages);
  return { name, id, key: imported };
}

/** The journal that an origin names, and its generation. */
function partsOf(origin: string): { journal: string; generation: number } {
  const at = origin.lastIndexOf('/');
  return { journal: origin.slice(0, at), generation: Number(origin.slice(at + 1)) };
}

/** Whether a checkpoint is of the deployment that was asked for: one key signs all of a host. @throws CheckpointError */
export const requireOrigin = (asked: string, { origin }: Checkpoint): void =>
  requireSame(asked, origin.split('/').at(-2) ?? origin);

/** Whether an answer is of the deployment that was asked for. An id is in nothing that is signed. @throws CheckpointError */
export function requireSame(asked: string, answered: string): void {
  if (/^\d+$/.test(asked) || asked.toLowerCase() === answered.toLowerCase()) return;
  throw new CheckpointError('other_journal', `The answer is of the deployment ${answered}, not of ${asked}.`);
}

/**
 * Whether a later checkpoint may follow an earlier one, before any proof: it is of the same journal and generation, and
 * covers as many entries or more. @throws CheckpointError `other_journal`, `lost` or `shorter`
 */
export function requireLater(earlier: Checkpoint, later: Checkpoint): void {
  const [before, after] = [partsOf(earlier.origin), partsOf(later.origin)];
  if (before.journal !== after.journal)
    throw new CheckpointError(
      'other_journal',
      `The checkpoint is of ${after.journal}, not of ${before.journal}.`,
    );
  if (before.generation !== after.generation) throw lostBetween(earlier, later);
  if (later.size < earlier.size)
    throw new CheckpointError(
      'shorter',
      `The journal had ${earlier.size} entries and now has ${later.size}: its end is gone.`,
    );
}

const lostBetween = ({ size }: Checkpoint, { lost, origin }: Checkpoint): CheckpointError =>
  new CheckpointError(
    'lost',
    `The database lost the end of the journal: ${
      lost === null
        ? 'nothing says which entries'
        : `entries up to ${lost.seq}, the last with the hash ${lost.hash}`
    }. The checkpoint covered ${size} entries. The journal goes on as ${origin}.`,
  );
