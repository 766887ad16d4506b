/**
 * What the client asks before each try to reconnect: how many milliseconds have to lie between it and the last one at the
 * same server. It measures them by the wall clock, so where that was set back it would wait for as long as it was set back.
 * Here a try is due whatever the wall clock says once the pause has passed by the monotonic one.
 * @param pauseMs shared out over processes: each waits up to half as long again
 */
export function reconnectPause(pauseMs: number, monotonic: () => number): () => number {
  let last = Number.NEGATIVE_INFINITY;
  let pause = 0;
  return () => {
    const now = monotonic();
    if (now - last < pause) return pause;
    last = now;
    pause = pauseMs * (1 + Math.random() / 2);
    return Number.NEGATIVE_INFINITY;
  };
}
