import type { ReadOptions } from '../../ports/transport.js';

type Stop = () => Promise<void>;
type Start = (subject: string, options: ReadOptions) => Promise<Stop>;

/**
 * The reader keeps the progress in memory, so a consumer has one reader at a time. A successor waits until the reader
 * before it has saved its progress. A second reader beside it is refused.
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
    // A second call waits for the same end: until then the progress is on its way to the database.
    const stop = () => {
      stopped ??= end();
      return stopped;
    };
    if (options.signal.aborted) await stop();
    else options.signal.addEventListener('abort', () => void stop(), { once: true });
    return stop;
  };
}
