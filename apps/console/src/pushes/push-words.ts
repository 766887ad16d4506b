import type { Push } from '../api/records.js';
import type { Tone } from '../ui/values.js';

type Status = Push['status'];

const WORDS: Record<Status, readonly [tone: Tone, meaning: string]> = {
  queued: ['plain', 'not sent yet'],
  submitted: ['accent', 'signed, stored and sent'],
  confirmed: ['ok', 'in a block'],
  finalized: ['ok', 'in a block that the chain does not take back'],
  failed: ['bad', 'given up: later pushes to this chain wait'],
  cancelled: ['plain', 'the deployment was deleted before it was sent'],
  unknown: ['warn', 'the chain-pusher did not answer'],
};

/** `unknown` is a word of the history alone. */
type PushState = Exclude<Status, 'unknown'>;
export const STATES = Object.keys(WORDS).filter((status): status is PushState => status !== 'unknown');
export const pushTone = (status: Status): Tone => WORDS[status][0];
export const pushMeaning = (status: Status): string => WORDS[status][1];
