/**
 * Why a payment is not `settled`, as a code: one of ours below, or one of the facilitator's. What else a facilitator says
 * may be long and may name its nodes, so it is neither stored nor answered.
 */
export type PaymentReason = string;

const SENTENCES = {
  no_reply: 'The facilitator did not answer.',
  no_clear_reply: 'The facilitator did not say whether it has charged the payment.',
  not_sent: 'The facilitator could not send the transaction that was to charge it.',
  not_shown: 'The chain does not show the charge that the facilitator has confirmed.',
  insufficient_funds: 'The payer holds less of the asset than the payment takes.',
  simulation_reverted: 'The transfer would fail on its chain.',
  transaction_failed: 'The transaction that was to charge it has failed on its chain.',
  authorization_expired: 'It expired unused.',
  authorization_used: 'It was used before.',
  authorization_cancelled: 'Its payer has cancelled it.',
  used_otherwise: 'Its payer has used its nonce for another transfer.',
  used_earlier: 'It was used before it was to be settled, or cancelled.',
  not_seen: 'It has expired, and no node of its chain is configured that could tell whether it was charged.',
  settled_elsewhere:
    'A transaction that this service did not ask for has charged it: somebody else has submitted it, or another installation takes payments for the same receiver.',
  execution_failed: 'It was charged, and the execution that it pays for cannot succeed any more.',
  charged_late: 'It was charged after it had been refused.',
} as const;

type OwnReason = keyof typeof SENTENCES;

/** One sentence for a reason. */
export const sentenceOf = (reason: PaymentReason): string =>
  Object.hasOwn(SENTENCES, reason)
    ? SENTENCES[reason as OwnReason]
    : `The facilitator gives the reason "${reason}".`;

/** A code is short and has no spaces: `insufficient_funds`, `invalid_exact_evm_nonce_already_used`. */
const CODE = /^[a-z][a-z0-9_]{0,99}$/i;
/** Of a text that is read for words that we know. */
const MAX_READ = 4000;

/** What libraries say when a call fails in a simulation, before anything was sent. */
const KNOWN_TEXTS: readonly (readonly [RegExp, OwnReason])[] = [
  [/exceeds.{0,20}balance|insufficient.{0,20}(?:balance|funds)/i, 'insufficient_funds'],
  [/authorization.{0,20}(?:used|cancel)/i, 'authorization_used'],
  [/authorization.{0,20}expired/i, 'authorization_expired'],
  [/revert|out of gas|gas required exceeds/i, 'simulation_reverted'],
];

/** What nodes say of a transaction that they do not take, since another one of its sender has its place. */
const NOT_TAKEN = /nonce.{0,80}(?:too low|lower than)|replacement transaction underpriced/is;

/** Whether a text says that a transaction was not sent, for a reason that passes. */
export const saysUnsent = (text: string | undefined): boolean =>
  NOT_TAKEN.test(text?.slice(0, MAX_READ) ?? '');

/** The code in what a facilitator gives as its reason; undefined where it gives none that is known. */
export function codeOfReason(text: string | undefined): PaymentReason | undefined {
  if (text === undefined || text === '') return undefined;
  return CODE.test(text) ? text : codeOfText(text);
}

/** The code for a text in which a library says that a call would fail on the chain. */
export function codeOfText(text: string | undefined): OwnReason | undefined {
  const read = text?.slice(0, MAX_READ) ?? '';
  return KNOWN_TEXTS.find(([pattern]) => pattern.test(read))?.[1];
}
