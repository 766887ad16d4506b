import { createHash } from 'node:crypto';

/** Numbers that follow from a seed: the same seed gives the same numbers in the same order. */
export interface Random {
  /** A whole number from `from` to `to`, both included; both are safe integers. */
  whole(from: number, to: number): number;
  /** Whether an event of this probability (0 to 1) happens. */
  chance(probability: number): boolean;
  /** One of the values. @throws RangeError when there is none */
  oneOf<T>(values: readonly T[]): T;
}

/** Draws from SHA-256 over the seed and a counter. */
export function createRandom(seed: string): Random {
  let block = Buffer.alloc(0);
  let blocks = 0;
  let at = 0;
  const fraction = (): number => {
    if (at + 6 > block.length) {
      block = createHash('sha256').update(`${seed} ${blocks}`).digest();
      blocks += 1;
      at = 0;
    }
    at += 6;
    return block.readUIntBE(at - 6, 6) / 2 ** 48;
  };
  const whole = (from: number, to: number) => Math.min(to, from + Math.floor(fraction() * (to - from + 1)));
  return {
    whole,
    chance: (probability) => fraction() < probability,
    oneOf: (values) => {
      if (values.length === 0) throw new RangeError('there is nothing to choose from');
      return values[whole(0, values.length - 1)] as (typeof values)[number];
    },
  };
}

/** There is no value of this schema, or none that the sampler can find. */
export class SchemaNotDrawable extends Error {
  override readonly name = 'SchemaNotDrawable';
}
