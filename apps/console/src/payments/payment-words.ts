import type { PaymentStatus } from '../api/payments.js';
import type { Tone } from '../ui/badge.js';

export const STATUSES: readonly PaymentStatus[] = [
  'settled',
  'reserved',
  'staged',
  'settling',
  'unknown',
  'released',
  'refused',
  'refund_due',
  'uncollected',
];

const WORDS: Record<PaymentStatus, { tone: Tone; meaning: string }> = {
  reserved: { tone: 'accent', meaning: 'verified; its execution is under way' },
  staged: { tone: 'accent', meaning: 'decided; it is to be charged' },
  settling: { tone: 'accent', meaning: 'being charged, or its chain is asked whether it was' },
  settled: { tone: 'ok', meaning: 'charged' },
  released: { tone: 'plain', meaning: 'the execution failed, nobody was charged' },
  refused: { tone: 'bad', meaning: 'refused, nobody was charged' },
  refund_due: { tone: 'bad', meaning: 'charged, but its execution has failed: return it' },
  unknown: { tone: 'warn', meaning: 'its chain is asked whether it was charged' },
  uncollected: { tone: 'bad', meaning: 'executed, but never charged' },
};
export const paymentTone = (status: PaymentStatus): Tone => WORDS[status].tone;
export const paymentMeaning = (status: PaymentStatus): string => WORDS[status].meaning;
