import { expect, it } from 'vitest';
import { orAborted, systemClock, withinTime } from './clock.js';

const never = new AbortController().signal;
const forEver = () => new Promise<never>(() => undefined);

it('gives the result of work that ends in time', async () => {
  await expect(withinTime(systemClock, 60_000, never, async () => 7)).resolves.toBe(7);
});

it('rejects and aborts when the time is over, also where the work takes no notice', async () => {
  let given: AbortSignal | undefined;
  const late = withinTime(systemClock, 0, never, (signal) => {
    given = signal;
    return forEver();
  });
  await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded' });
  expect(given?.aborted).toBe(true);
});

it('rejects with the reason of a signal that has aborted, or aborts', async () => {
  const reason = new Error('enough');
  await expect(orAborted(forEver(), AbortSignal.abort(reason))).rejects.toBe(reason);
  const stopping = new AbortController();
  const stopped = withinTime(systemClock, 60_000, stopping.signal, forEver);
  stopping.abort(reason);
  await expect(stopped).rejects.toBe(reason);
});
