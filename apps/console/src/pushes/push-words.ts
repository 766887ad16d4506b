import type { Push, PushState } from '../api/pushes.js';
import type { Tone } from '../ui/badge.js';

export const STATES: readonly PushState[] = [
  'queued',
  'submitted',
  'confirmed',
  'finalized',
  'failed',
  'cancelled',
];

const TONES: Record<Push['status'], Tone> = {
  queued: 'plain',
  submitted: 'accent',
  confirmed: 'ok',
  finalized: 'ok',
  failed: 'bad',
  cancelled: 'plain',
  unknown: 'warn',
};
export const pushTone = (status: Push['status']): Tone => TONES[status];

const MEANINGS: Record<Push['status'], string> = {
  queued: 'not sent yet',
  submitted: 'signed, stored and sent',
  confirmed: 'in a block',
  finalized: 'in a block that the chain does not take back',
  failed: 'given up: later pushes to this chain wait',
  cancelled: 'the deployment was deleted before it was sent',
  unknown: 'the chain-pusher did not answer',
};
export const pushMeaning = (status: Push['status']): string => MEANINGS[status];
