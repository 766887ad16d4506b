import { setTimeout } from 'node:timers/promises';

/** Asks until an answer is enough or the time is over, and resolves with the last answer. Times in milliseconds. */
export async function poll<T>(
  ask: () => Promise<T>,
  isEnough: (answer: T) => boolean,
  { forMs, everyMs }: { readonly forMs: number; readonly everyMs: number },
): Promise<T> {
  const until = performance.now() + forMs;
  let answer = await ask();
  while (!isEnough(answer) && performance.now() < until) {
    await setTimeout(everyMs);
    answer = await ask();
  }
  return answer;
}
