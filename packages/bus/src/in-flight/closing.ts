/** Work under way when the bus closes may take this long, in milliseconds. */
export const CLOSE_GRACE_MS = 4000;
/** Work that was then aborted may take this long. */
export const LAST_WORDS_MS = 500;

/** Waits for `work`, but no longer than `ms`, and for its success or failure alike. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([
    work.then(
      () => undefined,
      () => undefined,
    ),
    late,
  ]);
  clearTimeout(timer);
}
