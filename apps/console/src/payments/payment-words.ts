import type { Payment } from '../api/records.js';
import type { Tone } from '../ui/values.js';

type Status = Payment['status'];

const WORDS: Record<Status, readonly [tone: Tone, meaning: string]> = {
  settled: ['ok', 'charged'],
  reserved: ['accent', 'verified; its execution is under way'],
  staged: ['accent', 'decided; it is to be charged'],
  settling: ['accent', 'being charged, or its chain is asked whether it was'],
  unknown: ['warn', 'its chain is asked whether it was charged'],
  released: ['plain', 'the execution failed, nobody was charged'],
  refused: ['bad', 'refused, nobody was charged'],
  refund_due: ['bad', 'charged, but its execution has failed: return it'],
  uncollected: ['bad', 'executed, but never charged'],
};

export const STATUSES = Object.keys(WORDS) as Status[];
export const paymentTone = (status: Status): Tone => WORDS[status][0];
export const paymentMeaning = (status: Status): string => WORDS[status][1];
