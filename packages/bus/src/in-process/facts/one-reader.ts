import type { ReadOptions } from '../../transport.js';

type Stop = () => Promise<void>;
type Start = (subject: string, options: ReadOptions) => Promise<Stop>;

/**
 * Progress is kept by the reader, so a consumer has one at a time: a successor waits until the one before it
 * has noted what it did, and a second one beside it is refused.
 */
export function oneReaderEach(start: Start): Start {
  const readers = new Map<string, { stopping: boolean; ended: Promise<void> }>();

  return async (subject, options) => {
    const key = `${options.consumer} of ${subject}`;
    const earlier = readers.get(key);
    if (earlier !== undefined && !earlier.stopping) throw new Error(`${key} is read in this process already`);
    let onEnded = () => {};
    const reader = {
      stopping: false,
      ended: new Promise<void>((resolve) => {
        onEnded = resolve;
      }),
    };
    readers.set(key, reader);
    await earlier?.ended;
    const stopReading = await start(subject, options).catch((error: unknown) => {
      reader.stopping = true;
      onEnded();
      throw error;
    });
    const end = async () => {
      reader.stopping = true;
      await stopReading();
      onEnded();
    };
    let stopped: Promise<void> | undefined;
    // Whoever asks again waits for the same end: progress is on its way to the database until then.
    const stop = () => {
      stopped ??= end();
      return stopped;
    };
    if (options.signal.aborted) await stop();
    else options.signal.addEventListener('abort', () => void stop(), { once: true });
    return stop;
  };
}
