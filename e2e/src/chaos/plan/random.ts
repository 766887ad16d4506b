/** Numbers that look random, all of which follow from a seed. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** A whole number, both bounds included. */
  whole(from: number, to: number): number;
  /** One of a list that is not empty. */
  anyOf<T>(all: readonly T[]): T;
  shuffled<T>(all: readonly T[]): T[];
  /** Another source, which follows from this one and the name: what one draws does not move what another draws. */
  branch(name: string): Random;
}

/** The generator mulberry32; `seed` is any whole number. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole: Random['whole'] = (from, to) => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    whole,
    anyOf: <T>(all: readonly T[]) => all[whole(0, all.length - 1)] as T,
    shuffled: (all) =>
      all
        .map((one) => ({ one, rank: next() }))
        .sort((a, b) => a.rank - b.rank)
        .map(({ one }) => one),
    branch: (name) => createRandom(seed ^ numberOf(name)),
  };
}

/** FNV-1a of 32 bits. */
const numberOf = (name: string): number =>
  [...name].reduce((hash, letter) => Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193), 0x811c9dc5);
