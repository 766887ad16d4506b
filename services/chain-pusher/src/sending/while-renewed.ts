import { type ChainLease, renewLease } from '../store/chains/chain-lease.js';
import type { ChainSenderOptions } from './sender-options.js';

interface Renewal extends Pick<ChainSenderOptions, 'db' | 'clock' | 'leaseTtlMs' | 'logger'> {
  /** The lease holds until then at least, by `clock.monotonic`. */
  readonly onRenewed: (until: number) => void;
}

/** Does work under a lease that is renewed until the work ends: servers that are slow may make it take longer than a lease. */
export async function whileRenewed<T>(
  options: Renewal,
  lease: ChainLease,
  work: () => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const renewing = renewUntil(options, lease, ended.signal);
  try {
    return await work();
  } finally {
    ended.abort();
    await renewing;
  }
}

/** A failure ends nothing: what is written under a lease that another process has taken is refused. */
async function renewUntil(
  { db, clock, leaseTtlMs, logger, onRenewed }: Renewal,
  lease: ChainLease,
  signal: AbortSignal,
): Promise<void> {
  const { chain } = lease;
  for (;;) {
    await clock.sleep(leaseTtlMs / 3, signal).catch(() => undefined);
    if (signal.aborted) return;
    const until = clock.monotonic() + leaseTtlMs;
    await renewLease(db, lease, leaseTtlMs).then(
      ({ numAffectedRows }) => numAffectedRows && onRenewed(until),
      (err: unknown) => logger.warn({ err, chain }, 'the lease of the chain could not be renewed'),
    );
  }
}
